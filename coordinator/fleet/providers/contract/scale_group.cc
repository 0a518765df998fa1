#include "coordinator/fleet/providers/contract/scale_group.h"

#include <algorithm>

namespace rekindle::fleet {

absl::Status EndNamedThenResize(const Listing& listing, int nodes, const std::vector<std::string>& release,
                                const std::function<absl::Status(const std::vector<Machine>&)>& end,
                                const std::function<absl::Status()>& resize) {
  int desired = *listing.desired;
  std::vector<Machine> named;
  for (const Machine& machine : listing.machines) {
    if (machine.state == MachineState::kEnding || desired <= nodes) continue;
    if (std::find(release.begin(), release.end(), machine.node) == release.end()) continue;
    named.push_back(machine);
    --desired;
  }
  if (!named.empty()) {
    if (absl::Status ended = end(named); !ended.ok()) return ended;
  }
  return desired == nodes ? absl::OkStatus() : resize();
}

}  // namespace rekindle::fleet
