#include "coordinator/fleet/file/fleet_text.h"

#include "absl/strings/str_cat.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/file/fleet_file.h"

namespace rekindle::fleet {

absl::StatusOr<v1::Fleet> ParseFleet(const std::string& text, const std::string& source) {
  v1::Fleet file;
  if (absl::Status status = common::ParseYaml(text, source, &file); !status.ok()) return status;
  absl::StatusOr<v1::Fleet> fleet = ResolveFleet(file);
  if (!fleet.ok()) return absl::InvalidArgumentError(absl::StrCat(source, ": ", fleet.status().message()));
  return fleet;
}

}  // namespace rekindle::fleet
