// Decides who leaves, and for how long, when two ranks cannot work together although both live (a half-open network, a
// firewall). The functions are pure and work on Suspicions, which persists with the job.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_SUSPICION_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_SUSPICION_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"
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
};

// Returns the charges that name the cause of a failure. A rank that aborts closes its connections, so charges of CLOSED
// spread from rank to rank. Therefore CLOSED is believed only from `first`, the rank that stopped first, and only when
// nobody charges TIMEOUT or UNREACHABLE. UNREACHABLE beats TIMEOUT.
std::vector<Charge> PrimaryCharges(const std::vector<Charge>& charges, const std::string& first);

// Returns the charges between the members of the newest generation that name the cause of its end. There are none if
// nobody is to blame. Returns nothing if a member was silent or dead, because that explains the end.
std::optional<std::vector<Charge>> FindCharges(const Job& job, const std::vector<MemberView>& views);

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
