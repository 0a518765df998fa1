// The account of what was lost: faults in the status, with their pauses and redone work.
#ifndef REKINDLE_COORDINATOR_CORE_FAULTS_H_
#define REKINDLE_COORDINATOR_CORE_FAULTS_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

// Appends a fault to the status and tells it in an event. With `pausing`, its pause is set when the next step
// completes; `completed_at` is the last completion before.
void AddFault(Turn& turn, Job& job, v1::Fault fault, const std::string& node, bool pausing, double completed_at,
              std::set<std::string> silent = {});

// A step has completed now: closes the open faults.
void CloseFaults(Job& job, double now, double step_seconds);

// How many micro-batches of the interrupted step members that are out had been given and others now add.
int CountRedone(const Job& job, const v1::Membership& next, const std::vector<MemberView>& views);

// The agent of `node` still lives and says how `trainer` ended: a verdict by silence is corrected.
void CorrectVerdict(Job& job, const std::string& trainer, const std::string& death);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FAULTS_H_
