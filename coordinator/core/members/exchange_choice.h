// Decides what carries the exchange between the members of a generation, and when NCCL is given up and tried again.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_EXCHANGE_CHOICE_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_EXCHANGE_CHOICE_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/formation/transport_choice.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// After so many generations in a row in which NCCL failed before the first step and nobody was to blame, the ranks
// exchange over their hosts. After `kHostSeconds` NCCL is tried again.
inline constexpr int kMostNcclFailures = 2;
inline constexpr double kHostSeconds = 3600;

// Chooses the transport of a membership that the job is about to have.
TransportChoice TransportOf(const Turn& turn, const Job& job, const v1::Membership& next);

// Shows in the job's status how the members' GPUs exchange. An event tells of each new reason not to use NCCL.
void ShowExchange(Turn& turn, Job& job, const TransportChoice& choice);

// Returns why members have to stop at a step boundary so that NCCL can be used again, or an empty string. Where NCCL
// has failed, it is tried again after `kHostSeconds`. A process that has left NCCL starts anew if nothing else keeps
// the members from NCCL, all of the job's workers are there, and the others are enough and have all of the state.
// Within `kHostSeconds` no more processes do so than the job has members.
std::string WhyUseNcclAgain(Turn& turn, Job& job);

// Releases one member that has left NCCL from `pool`, the members that have stopped at a step boundary, for the reasons
// above. Returns whether it has released one.
bool ReleaseToRenew(const Turn& turn, Job& job, std::vector<Candidate>& pool);

// Counts a failure of the newest generation, in which its members stand as `views` says. A generation counts once.
void CountNcclFailure(Turn& turn, Job& job, const std::vector<MemberView>& views);
// Forgets the failures if the newest generation has made a step by NCCL.
void ForgetNcclFailures(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_EXCHANGE_CHOICE_H_
