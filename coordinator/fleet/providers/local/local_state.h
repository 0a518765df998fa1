// This file stores what a pool of local machines must not forget while no coordinator runs. It also makes the names of
// the pool's nodes.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_STATE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_STATE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rekindle::fleet {

struct LocalState {
  // `next_number` only grows, because a node's name is never used again.
  int next_number = 1;
  // `began` is the Unix time of the first step of the market's trace.
  double began = 0;
  // `nodes` and `notice_seconds` were set for the spot market by hand. Where one is not set, the fleet file's value
  // counts.
  std::optional<int> nodes;
  std::optional<double> notice_seconds;
};

// Reads the state of a pool. Returns NOT_FOUND where there is no state yet. DATA_LOSS says that the file is damaged and
// has to be removed.
absl::StatusOr<LocalState> ReadLocalState(const std::string& path);
// Writes the state of a pool, which is durable on return.
absl::Status WriteLocalState(const std::string& path, const LocalState& state);

// Turns a pool's name into the beginning of its nodes' names, which has only letters, digits and '-'.
std::string NodePrefix(const std::string& pool);
// Returns the number in the name of a node: 12 for "cheap-12", and 0 for a text that is no name with the prefix.
int NodeNumber(absl::string_view node, const std::string& prefix);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_STATE_H_
