// Forgets what nobody needs any more, so that nothing that is kept grows with the past. Jobs that are over are
// forgotten at their user's word, or by `Tunables::keep_jobs` and `keep_days`. Nodes that have gone are forgotten, too.
// What a job saved stays in its store. The `job.json` there says that the job is over, so that its trainers are stopped
// if any of them is heard of again (found.h).
#ifndef REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_
#define REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns a node that is heard of and runs some of the job. Returns an empty string where there is none.
std::string RunsOn(const State& state, const std::string& uid);

// Forgets the job at once. The effects' status is NOT_FOUND where no job has that uid. It is FAILED_PRECONDITION where
// the job is not over, or where a node that is heard of still runs some of it. It is FAILED_PRECONDITION also for a job
// that is FOUND, because there is no record of it that could be forgotten.
void ForgetAsAsked(Turn& turn, const std::string& uid);

// Forgets jobs and nodes that are past their limits, and sets `State::forget_at` anew. The caller must call this when
// `State::forget_at` has come, and whenever a job has ended.
void ForgetOld(Turn& turn);

// Returns whether more jobs that are over are remembered than `Tunables::keep_jobs` allows, as of the last
// `RefreshSurroundings`.
bool HasTooManyOver(const State& state);

// Forgets the lost node of which nothing was heard for the longest time, to make room for another. Returns false where
// all nodes are needed.
bool ForgetOneNode(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_
