// Checks whether a membership that came over the network from a trainer is one that the job can be in.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns what is wrong with who is in that membership, with their work, and with who has which part of the state. That
// is what the coordinator alone decides. Returns an empty string where it is sound.
std::string FindFlawInDeal(const v1::Membership& told, const Job& job);

// Returns what is wrong with that membership. Returns an empty string where it is sound and its digest is that of its
// content.
std::string FindFlawIn(const v1::Membership& told, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_MEMBERSHIP_FLAWS_H_
