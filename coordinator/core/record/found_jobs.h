// Handles jobs whose trainers live although no record of them is known. Decides which nodes read the stores of such
// jobs, and which slots are left to their trainers.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the node has to read what the found job's store has.
bool ReadsStoreOf(const State& state, const std::string& node, const FoundJob& job);

// Returns the uids of the found jobs whose stores the node has to read, at most `checkpoint::kMostStoredJobs`. Few of
// the nodes that run a job read its store, however many there are.
std::vector<std::string> StoresToRead(const State& state, const std::string& node);

// Returns whether a trainer of a job without a record runs in the slot.
bool IsLeftAlone(const State& state, const NodeState& node, int slot);

// Returns the found job of that uid or name, or null where there is none.
const FoundJob* FindFound(const State& state, const std::string& name_or_uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_FOUND_JOBS_H_
