// Where machines are bought: one adapter a cloud. A provider has one verb, desired capacity, and tells what runs.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_PROVIDER_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_PROVIDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::fleet {

enum class MachineState { kStarting, kRunning, kEnding };

struct Machine {
  std::string id;    // The provider's own.
  std::string node;  // The name as which it registers; empty: not known.
  MachineState state = MachineState::kRunning;
  double since = 0;  // Unix seconds since when it runs, or was made; 0: not known.
};

struct Listing {
  std::vector<Machine> machines;
  std::vector<std::string> ended;  // Nodes of machines that have ended, and are not among `machines` any more.
  std::optional<int> desired;      // What the provider believes is wanted, where it tells.
  absl::Status shortage;           // Why it cannot start more now, where it tells; an error as of SetDesired.
  std::string waiting;             // What those that start wait for, where it tells.
};

inline constexpr int kMaxMachines = 100'000;  // Of a pool; a provider that tells of more is not believed.

// Errors of both verbs:
//   RESOURCE_EXHAUSTED  no capacity, or a quota is used up
//   UNAVAILABLE, DEADLINE_EXCEEDED  not now; with RetryAfter where the provider asked for it
//   PERMISSION_DENIED, UNAUTHENTICATED, NOT_FOUND, INVALID_ARGUMENT, FAILED_PRECONDITION  somebody must mend something
// Their messages say what to do, and hold no secret: they are shown.
//
// Thread-compatible. A call blocks, for `seconds` at most and a little, and reads a bounded answer.
class Provider {
 public:
  virtual ~Provider() = default;
  // Wants `nodes` machines in the pool from now on. Where that ends some, those of `release` (as in Machine::node) go
  // first, as far as the provider can choose. The same call twice is as good as one.
  virtual absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                                  double seconds) = 0;
  virtual absl::StatusOr<Listing> List(const std::string& pool, double seconds) = 0;
  // Of nodes that an earlier List told of, and the newest one does not: those on whose machines nothing runs any more.
  // A machine that was only taken out of the pool is not one of them. A provider that cannot tell says nothing.
  virtual absl::StatusOr<std::vector<std::string>> Ended(const std::string& pool, const std::vector<std::string>& nodes,
                                                         double seconds);
  // Are those of `release` really the ones that end, as long as enough of them are there?
  virtual bool ChoosesWhatEnds() const { return true; }
};

// A provider that asked to come back later: an UNAVAILABLE with the seconds, 0 where it did not say how many.
absl::Status Throttled(const std::string& message, double retry_after);
// The seconds of such an error; nothing of any other.
std::optional<double> RetryAfter(const absl::Status& status);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_PROVIDER_H_
