// Runs the planning cycle, which decides what slots each job has from now on, and what becomes of jobs that lose some.
// It runs when something changed that it depends on: jobs, nodes, prices, or a time that was waited for. A step of
// training never causes one.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_

#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Asks for a cycle if the last one knew this job, or this node, otherwise.
void CheckPlanned(const Turn& turn, Job& job);
void CheckPlanned(const Turn& turn, NodeState& node);

// Runs a cycle if one is due, and puts off the next if it would take too much time. `again` are the jobs that have to
// be looked at again. Returns false where none ran.
bool PlanJobs(Turn& turn, std::vector<Job*>* again);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_H_
