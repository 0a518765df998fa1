// Runs the planning cycle, which decides what slots each job has from now on, and what becomes of jobs that lose some.
// The cycle runs when something changed on which it depends: jobs, nodes, prices, or a time that was waited for. A step
// of training never causes one.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_

#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Asks for a planning cycle if the job, or the node, is not any more as the last cycle saw it.
void CheckPlanned(const Turn& turn, Job& job);
void CheckPlanned(const Turn& turn, NodeState& node);

// Runs a planning cycle if one is due, or puts it off if cycles would take too much time. Sets `again` to the jobs that
// have to be looked at again. Returns false where no cycle ran.
bool PlanJobs(Turn& turn, std::vector<Job*>* again);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_
