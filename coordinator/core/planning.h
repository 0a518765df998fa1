// The planning cycle: which job has which slots from now on, and what becomes of those that lose some. Runs when
// something changed that it depends on: jobs, nodes, prices, time that was waited for; never for a step of training.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_H_

#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Asks for a cycle when the last one knew this job, this node otherwise.
void CheckPlanned(State& state, Job& job);
void CheckPlanned(State& state, NodeState& node);

// Runs a cycle if one is due, and puts off the next if it would take too much time. `again`: the jobs that have to be
// looked at again. False: none ran.
bool PlanJobs(Turn& turn, std::vector<Job*>* again);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_H_
