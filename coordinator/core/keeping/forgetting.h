// Forgets what nobody needs any more, so that nothing that is kept grows with the past. Jobs that are over are
// forgotten at their user's word, or by `Tunables::keep_jobs` and `keep_days`. Nodes that have gone are forgotten, too.
// What a job saved stays in its store. The `job.json` there says that the job is over, for any part of it that comes
// back (found.h).
#ifndef REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_
#define REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Forgets the job at once. The effects' status is NOT_FOUND where no job has that uid. It is FAILED_PRECONDITION where
// the job is not over, or where a node that is heard of still runs some of it. A job that is FOUND has no record that
// could be forgotten, so it is FAILED_PRECONDITION there, too.
void ForgetAsAsked(Turn& turn, const std::string& uid);

// Forgets what is past its limit, and sets `State::forget_at` anew. The caller must call this when `State::forget_at`
// has come, and whenever a job has ended.
void ForgetOld(Turn& turn);

// Returns whether more jobs are over than are kept, as of the last `RefreshSurroundings`.
bool HasTooManyOver(const State& state);

// Forgets the node of which nothing was heard for the longest time, to make room for another. Returns false where all
// nodes are needed.
bool ForgetOneNode(Turn& turn);

// Returns where a job's checkpoints are, as its record says. Returns an empty string where it kept none.
std::string CheckpointsOf(const v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_KEEPING_FORGETTING_H_
