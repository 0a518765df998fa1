// A membership that a trainer tells of comes over the network: is it one that the job can be in?
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERSHIP_FLAWS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERSHIP_FLAWS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Why it is none; empty: it is sound, and its digest is that of its content.
std::string FindFlawIn(const v1::Membership& told, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERSHIP_FLAWS_H_
