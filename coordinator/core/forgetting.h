// What nobody needs any more is forgotten, so that nothing that is kept grows with what has been: jobs that are over,
// by their user's word or by Tunables::keep_jobs and keep_days, and nodes that have gone. What a job saved stays in its
// store, and the `job.json` there says that it is over, for whoever of it comes back (found.h).
#ifndef REKINDLE_COORDINATOR_CORE_FORGETTING_H_
#define REKINDLE_COORDINATOR_CORE_FORGETTING_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// At once. NOT_FOUND: there is no such job; FAILED_PRECONDITION: it is not over, or a node that is heard of runs some
// of it still. A job that is FOUND has no record that could be forgotten.
void ForgetAsAsked(Turn& turn, const std::string& uid);

// What is past its limit. To be called when State::forget_at has come, and whenever some job has ended. Sets that anew.
void ForgetOld(Turn& turn);

// Are more jobs over than are kept? As of the last RefreshSurroundings.
bool HasTooManyOver(const State& state);

// The one of which nothing was heard for the longest time makes room for another. False: all are needed.
bool ForgetOneNode(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORGETTING_H_
