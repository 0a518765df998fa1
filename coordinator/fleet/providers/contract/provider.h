// This file declares the interface through which machines are bought. There is one adapter for each cloud. A provider
// takes only the desired capacity of a pool, and it says which machines run.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::fleet {

enum class MachineState { kStarting, kRunning, kEnding };

struct Machine {
  // `id` is the provider's own name for the machine.
  std::string id;
  // `node` is the name under which the machine registers. It is empty where that is not known.
  std::string node;
  MachineState state = MachineState::kRunning;
  // `since` is the Unix time at which the machine began to run, or was made. It is 0 where that is not known.
  double since = 0;
};

struct Listing {
  std::vector<Machine> machines;
  // `ended` names the nodes whose machines have ended and are not among `machines` any more.
  std::vector<std::string> ended;
  // `desired` is the number of machines that the provider believes the pool should have. It is empty where the provider
  // does not say so.
  std::optional<int> desired;
  // `shortage` says why the provider cannot start more machines now, where it says so. It is an error like those of
  // SetDesired.
  absl::Status shortage;
  // `waiting` says what the machines that are still starting wait for. It is empty where the provider does not say so.
  std::string waiting;
};

// A pool has at most `kMaxMachines` machines. A provider that reports more is not believed.
inline constexpr int kMaxMachines = 100'000;

// The calls of a Provider return these errors:
//   RESOURCE_EXHAUSTED says that there is no capacity, or that a quota is used up.
//   UNAVAILABLE and DEADLINE_EXCEEDED say "not now", with RetryAfter where the provider asked for a pause.
//   All other codes, such as PERMISSION_DENIED, UNAUTHENTICATED, NOT_FOUND, INVALID_ARGUMENT and FAILED_PRECONDITION,
//   say that somebody has to repair something.
// The messages of these errors say what to do. They are shown to people, so they hold no secret.
//
// A Provider is thread-compatible. No call blocks for much longer than its argument `seconds` says, and each reads an
// answer of limited size only.
class Provider {
 public:
  virtual ~Provider() = default;
  // Asks for `nodes` machines in the pool from now on. If the pool has more, the machines of `release` (names as in
  // Machine::node) end first, as far as the provider can choose. A second identical call has no further effect.
  virtual absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                                  double seconds) = 0;
  virtual absl::StatusOr<Listing> List(const std::string& pool, double seconds) = 0;
  // Returns those of `nodes` on whose machines nothing runs any more. The caller must pass only nodes that an earlier
  // List reported and the newest one does not. A machine that was only taken out of the pool does not count as ended. A
  // provider that cannot tell returns an empty list.
  virtual absl::StatusOr<std::vector<std::string>> Ended(const std::string& pool, const std::vector<std::string>& nodes,
                                                         double seconds);
  // Returns whether SetDesired ends exactly the machines that `release` names, provided that `release` names enough
  // machines.
  virtual bool ChoosesWhatEnds() const { return true; }
};

// Returns an UNAVAILABLE error for a provider that asked its caller to wait for `retry_after` seconds. `retry_after` is
// 0 where the provider did not say for how long.
absl::Status Throttled(const std::string& message, double retry_after);
// Returns the `retry_after` of an error that Throttled made, and nothing for any other status.
std::optional<double> RetryAfter(const absl::Status& status);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_H_
