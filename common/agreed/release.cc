#include "common/agreed/release.h"

#include "common/agreed/version.h"

namespace rekindle::common {

std::string VersionLine(const std::string& program) {
  return program + " " + kVersion + " (commit " + kCommit + ", protocol " + std::to_string(kProtocolVersion) + ")";
}

}  // namespace rekindle::common
