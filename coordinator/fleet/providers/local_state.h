// What a local pool must not forget while no coordinator runs, and how its nodes are called.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_STATE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_STATE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rekindle::fleet {

struct LocalState {
  int next_number = 1;  // A node's name is never used again.
  double began = 0;     // Unix time of a trace's first step.
  // What was said of the market by hand; nothing: the fleet file's word holds.
  std::optional<int> nodes;
  std::optional<double> notice_seconds;
};

// NOT_FOUND: there is none yet. DATA_LOSS: remove the file.
absl::StatusOr<LocalState> ReadLocalState(const std::string& path);
// Durable on return.
absl::Status WriteLocalState(const std::string& path, const LocalState& state);

// A pool's name as the beginning of its nodes' names: letters, digits and '-'.
std::string NodePrefix(const std::string& pool);
// 12 of "cheap-12"; 0 where it is no name with that prefix.
int NodeNumber(absl::string_view node, const std::string& prefix);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_STATE_H_
