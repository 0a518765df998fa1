// This file stores what a local pool must not forget while no coordinator runs. It also makes the names of its nodes.
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
  // `began` is the Unix time of a trace's first step.
  double began = 0;
  // These values were set for the market by hand. Where one is not set, the fleet file's value counts.
  std::optional<int> nodes;
  std::optional<double> notice_seconds;
};

// Returns NOT_FOUND where there is no state yet. DATA_LOSS says that the file is damaged and has to be removed.
absl::StatusOr<LocalState> ReadLocalState(const std::string& path);
// Writes the state, which is durable on return.
absl::Status WriteLocalState(const std::string& path, const LocalState& state);

// Turns a pool's name into the beginning of its nodes' names, which has only letters, digits and '-'.
std::string NodePrefix(const std::string& pool);
// Returns 12 for "cheap-12", and 0 for a text that is no name with that prefix.
int NodeNumber(absl::string_view node, const std::string& prefix);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_STATE_H_
