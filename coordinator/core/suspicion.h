// Two ranks that cannot work together although both live (a half-open network, a firewall): who leaves, for how long.
// Pure functions on Suspicions, which persists with the job.
#ifndef REKINDLE_COORDINATOR_CORE_SUSPICION_H_
#define REKINDLE_COORDINATOR_CORE_SUSPICION_H_

#include <optional>
#include <string>
#include <vector>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// One rank's word against another, in one failure in which nobody was silent.
struct Charge {
  std::string by;       // Trainer.
  std::string against;  // Trainer.
  v1::Accusation::Kind kind = v1::Accusation::KIND_UNSPECIFIED;
  double at = 0;  // When it was first heard.
};

// Keeps the charges that name a cause. A rank that aborts closes its connections, so CLOSED spreads: only the first
// to speak is believed, and only when nobody charges TIMEOUT or UNREACHABLE (UNREACHABLE beats TIMEOUT).
std::vector<Charge> PrimaryCharges(const std::vector<Charge>& charges);

struct Removal {
  std::string trainer;
  std::string reason;
};

// Counts the failure of each pair. When a pair has failed before: the end that more peers accuse, then the one with
// fewer micro-batches, then the one of higher rank; never `keep` (who alone holds the state; empty: nobody).
std::optional<Removal> CountFailure(v1::Suspicions& suspicions, const std::vector<Charge>& primary,
                                    const v1::Membership& membership, const std::string& keep = "");

// Excludes `node`; returns for how many seconds: `base`, doubling each time, at most 300.
double Exclude(v1::Suspicions& suspicions, const std::string& node, double base);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SUSPICION_H_
