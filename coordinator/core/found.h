// Jobs whose trainers live, and of which there is no record: they were submitted after the copy was made from which the
// records came. They are shown, go on as they are, and are taken over when their store's record proves whose they are,
// or when their user says so. Nothing stops them but a record in their store that says that they are over.
#ifndef REKINDLE_COORDINATOR_CORE_FOUND_H_
#define REKINDLE_COORDINATOR_CORE_FOUND_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// A trainer of a job that nobody knows speaks.
void TakeFound(Turn& turn, const v1::TrainerReport& report);
// So does an agent: of such jobs' processes, which keep their slots, and of what was wanted of them.
void TakeFound(Turn& turn, NodeState& node, const v1::NodeReport& report);

// What the stores of such jobs have of them, as that agent read it. A record of this cluster whose secret's hash fits
// the secret that the same agent tells is the job's: it is taken over by it. One that is over is stopped. Anything else
// leaves the job as it is, and is shown. To be called with each report, also where that says nothing new: what speaks
// against it may have ended. True: some job has a record now.
bool TakeStored(Turn& turn, const v1::NodeReport& report);

// The uids of the jobs whose stores that node is to read: at most checkpoint::kMostStoredJobs. Few of the nodes that
// run a job read its store, however many there are.
std::vector<std::string> StoresToRead(const State& state, const std::string& node);

// Does a trainer of a job that nobody knows run in that slot?
bool IsLeftAlone(const State& state, const NodeState& node, int slot);

// Null where no such job has that uid or name.
const FoundJob* FindFound(const State& state, const std::string& name_or_uid);

// Makes it a job like any other, from what its agents and trainers say. NOT_FOUND: there is none; FAILED_PRECONDITION:
// nobody has said what was wanted of it, another job has its name, or whoever is in its newest generation may not have
// been heard of since the coordinator was started.
void AdoptFound(Turn& turn, const std::string& uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FOUND_H_
