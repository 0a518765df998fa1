// Decides which trainers of a job are remembered, and for how long. A job that lives for a year on machines that live
// for an hour has many trainers, and only a few of them can still matter.
#ifndef REKINDLE_COORDINATOR_CORE_KEEPING_REMEMBERED_H_
#define REKINDLE_COORDINATOR_CORE_KEEPING_REMEMBERED_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A trainer stays known for this many seconds after anybody spoke of it. A report may be on its way this long, or an
// agent may report an exit again this late.
inline constexpr double kRememberSeconds = 600;

// Returns what the job knows of the trainer, which may be nothing yet. Notes that the trainer or its agent says
// something of the trainer now. Where the job knows as many trainers as it may, forgets the one of which nothing was
// said for the longest time, and counts that in `Effects::crowded_out`. Returns null where the job needs all trainers
// that it knows.
Trainer* Remember(Turn& turn, Job& job, const std::string& trainer);

// Forgets trainers of which nothing was said for `kRememberSeconds`, dead or not. Keeps those that are needed: members
// of the newest membership, and trainers that were in a generation above that of the newest membership.
void ForgetTrainers(Job& job, double now);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_KEEPING_REMEMBERED_H_
