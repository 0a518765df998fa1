// Which trainers of a job are remembered, and for how long: a job that lives for a year on machines that live for an
// hour has many, and only a few of them can still matter.
#ifndef REKINDLE_COORDINATOR_CORE_REMEMBERED_H_
#define REKINDLE_COORDINATOR_CORE_REMEMBERED_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// A report that was on its way for so long, or an agent that tells an exit again, is of a trainer that is still known.
inline constexpr double kRememberSeconds = 600;

// Something is said of that trainer now, by itself or by its agent: gives what is known of it, which may be nothing
// yet. Where as many are known as may be, the one of which nothing was said for the longest time is forgotten for it,
// and Effects::crowded_out counts that. Null: all of them are needed.
Trainer* Remember(Turn& turn, Job& job, const std::string& trainer);

// Forgets those of which nothing was said for kRememberSeconds, dead or not, but for those that are needed: members of
// the newest membership, and whoever was in a generation above it.
void ForgetTrainers(Job& job, double now);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REMEMBERED_H_
