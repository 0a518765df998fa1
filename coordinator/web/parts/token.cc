#include "coordinator/web/parts/token.h"

#include "common/rpc/local_token.h"

namespace rekindle::coordinator::web {

absl::StatusOr<std::string> PageToken(const std::string& token_file, const std::string& folder) {
  if (!token_file.empty()) return common::ReadToken(token_file);
  const std::string path = folder + "/page-token";
  if (absl::Status made = common::MakeTokenFile(path); !made.ok()) return made;
  return common::ReadToken(path);
}

}  // namespace rekindle::coordinator::web
