// Who can be in the next membership, as candidates for its formation.
#ifndef REKINDLE_COORDINATOR_CORE_CANDIDATES_H_
#define REKINDLE_COORDINATOR_CORE_CANDIDATES_H_

#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// `previous_rank` -1: joins. `live` is left for the caller to decide.
Candidate ToCandidate(const Trainer& trainer, int previous_rank);

// A READY trainer that is there and may join the next generation (unless its node is kept out).
bool MayJoin(const State& state, const Job& job, const Trainer& trainer, double now);
// The same at this moment; the job is looked at again when that one has been silent for too long.
bool JoinsNow(const Turn& turn, Job& job, const Trainer& trainer);

// Those that may join and whose node is not kept out.
std::vector<Candidate> Joiners(const Turn& turn, Job& job);

// Appends joiners until there are `up_to`.
void Fill(std::vector<Candidate>& pool, const std::vector<Candidate>& joiners, int up_to);

// How many workers the job has slots for on nodes that are there and stay, at most as many as it may have.
int DesiredWorkers(const State& state, const Job& job);

// Shows the job as PENDING for want of workers.
void WaitForWorkers(Turn& turn, Job& job, size_t have);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CANDIDATES_H_
