// Decides who leaves, and for how long, when two ranks cannot work together although both live (a half-open network, a
// firewall). The functions are pure and work on Suspicions, which persists with the job.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_SUSPICION_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_SUSPICION_H_

#include <optional>
#include <string>
#include <vector>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// A Charge is one rank's word against another, in a failure in which no rank was silent.
struct Charge {
  // `by` and `against` are identities of trainers: the one that charges, and the one that is charged.
  std::string by;
  std::string against;
  v1::Accusation::Kind kind = v1::Accusation::KIND_UNSPECIFIED;
  // `at` is when the charge was first heard.
  double at = 0;
};

// Returns the charges that name the cause of a failure. A rank that aborts closes its connections, so charges of CLOSED
// spread from rank to rank. Therefore CLOSED is believed only from the first rank to speak, and only when nobody
// charges TIMEOUT or UNREACHABLE. UNREACHABLE beats TIMEOUT.
std::vector<Charge> PrimaryCharges(const std::vector<Charge>& charges);

struct Removal {
  std::string trainer;
  std::string reason;
};

// Counts the failure for each pair of ranks in `primary`, the charges that name the failure's cause. When a pair has
// failed before, returns which rank of it leaves: the one that more peers accuse, else the one with fewer
// micro-batches, else the one of the higher rank. `keep` is the trainer that alone holds the state, if there is one. It
// never leaves.
std::optional<Removal> CountFailure(v1::Suspicions& suspicions, const std::vector<Charge>& primary,
                                    const v1::Membership& membership, const std::string& keep = "");

// Excludes `node` and returns for how many seconds: `base` at first, doubled each time, at most 300.
double Exclude(v1::Suspicions& suspicions, const std::string& node, double base);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_SUSPICION_H_
