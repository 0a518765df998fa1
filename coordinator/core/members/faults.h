// Keeps the list of faults in a job's status, with the pause that each caused and the work that was done again.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_FAULTS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_FAULTS_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Appends a fault to the job's status and emits an event for it. With `pausing`, the length of the fault's pause is set
// when the next step completes. `completed_at` is when the last step before the fault completed. `silent` are the
// trainers that were judged dead by silence.
void AddFault(Turn& turn, Job& job, v1::Fault fault, const std::string& node, bool pausing, double completed_at,
              std::set<std::string> silent = {});

// Sets the lengths of the pauses that open faults have caused. A step that has completed at `now` ends the pauses.
void CloseFaults(const Turn& turn, Job& job, double now, double step_seconds);

// Returns how many micro-batches of the interrupted step are computed again. Members that have died or fallen silent
// had been given these, and the membership `next` gives them to other members in addition to what those hold.
int CountRedone(const Job& job, const v1::Membership& next, const std::vector<MemberView>& views);

// Corrects a verdict that rested on silence, because the agent of the trainer's node lives and says how `trainer`
// ended.
void CorrectVerdict(const Turn& turn, Job& job, const std::string& trainer, const std::string& death);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_FAULTS_H_
