// Checks whether a membership that came over the network from a trainer is one that the job can be in.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns what is wrong with the part of a membership that the coordinator alone decides: who is in it, their work, and
// who has which part of the state. Returns an empty string where that part is sound.
std::string FindFlawInDeal(const v1::Membership& told, const Job& job);

// Returns what is wrong with a membership. Returns an empty string where it is sound and its digest is that of its
// content.
std::string FindFlawIn(const v1::Membership& told, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_
