// Handles jobs whose trainers live although no record of them is known. It says which nodes read the stores of those
// jobs, and which slots are left to their trainers.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether that node has to read what the job's store has.
bool ReadsStoreOf(const State& state, const std::string& node, const FoundJob& job);

// Returns the uids of the jobs whose stores that node has to read, at most `checkpoint::kMostStoredJobs`. Few of the
// nodes that run a job read its store, however many there are.
std::vector<std::string> StoresToRead(const State& state, const std::string& node);

// Returns whether a trainer of an unknown job runs in that slot.
bool IsLeftAlone(const State& state, const NodeState& node, int slot);

// Returns null where no such job has that uid or name.
const FoundJob* FindFound(const State& state, const std::string& name_or_uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_
