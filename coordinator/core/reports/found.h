// Keeps found jobs: jobs whose trainers live, and of which there is no record, because they were submitted after the
// copy was made from which the records came. Found jobs are shown and go on as they are. They are taken over when the
// record in their store proves whose they are, or when their user says so. Nothing stops them but a record in their
// store that says that they are over.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_FOUND_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_FOUND_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Takes the report of a trainer whose job nobody knows.
void TakeReportOfFound(Turn& turn, const v1::TrainerReport& report);
// Takes from an agent's report which processes of jobs that nobody knows run on its node, and what the agent was told
// to run of these jobs. The processes keep their slots.
void TakeReportOfFound(Turn& turn, NodeState& node, const v1::NodeReport& report);

// Takes what the stores of found jobs say of them, as an agent has read it. A record of this cluster is a job's own if
// the hash of its secret fits the secret that the same agent reports. Then the job is taken over with that record, or
// stopped if the record says that it is over. Any other record leaves the job as it is, and the reason is shown. The
// caller must pass each report, also one that says nothing new, because the reason against a record may have ended.
// Returns whether some job has a record now.
bool TakeStoredJobs(Turn& turn, const v1::NodeReport& report);

// Makes a found job a job like any other, from what its agents and trainers say. NOT_FOUND says that there is no such
// job. FAILED_PRECONDITION says that no agent has said what it was told to run of the job, that another job has its
// name, or that members of its newest generation may not have been heard of since the coordinator was started.
void AdoptFound(Turn& turn, const std::string& uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_FOUND_H_
