// Says which trainers can be in the next membership, as candidates for it.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A trainer that joins has -1 as its `previous_rank`. The caller has to set `live`.
Candidate ToCandidate(const Trainer& trainer, int previous_rank);

// Returns whether a trainer is READY, was heard of in time and may join the next generation. This does not look at
// whether its node is kept out.
bool MayJoin(const State& state, const Job& job, const Trainer& trainer, double now);
// Returns whether the trainer may join at this moment. If so, the job is looked at again when the trainer has been
// silent for too long.
bool JoinsNow(const Turn& turn, Job& job, const Trainer& trainer);

// Returns those that may join and whose nodes are not kept out.
std::vector<Candidate> Joiners(const Turn& turn, Job& job);

// Appends joiners to `pool` until it has `up_to` candidates.
void Fill(std::vector<Candidate>& pool, const std::vector<Candidate>& joiners, int up_to);

// Returns how many slots the job has on nodes that are there and stay, but not more than its highest number of workers.
int DesiredWorkers(const State& state, const Job& job);

// Shows the job as PENDING because it has too few workers. `have` is how many it has.
void WaitForWorkers(Turn& turn, Job& job, size_t have);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_
