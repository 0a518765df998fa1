// Decides which trainers are candidates for a job's next membership.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns the trainer as a candidate for the next membership. `previous_rank` is -1 for a trainer that joins. The
// caller has to set the candidate's `live`.
Candidate ToCandidate(const Trainer& trainer, int previous_rank);

// Returns whether a trainer is READY, was heard of in time and may join the next generation, whether or not its node is
// kept out for a while.
bool MayJoin(const State& state, const Job& job, const Trainer& trainer, double now);
// Returns whether the trainer may join the next generation at this moment (see MayJoin). If so, the job is looked at
// again when the trainer has been silent for too long.
bool JoinsNow(const Turn& turn, Job& job, const Trainer& trainer);

// Returns the trainers that may join the next generation and whose nodes are not kept out.
std::vector<Candidate> Joiners(const Turn& turn, Job& job);

// Appends joiners to `pool` until it has `up_to` candidates.
void Fill(std::vector<Candidate>& pool, const std::vector<Candidate>& joiners, int up_to);

// Returns how many slots the job has and keeps on nodes that are neither lost nor draining, but not more than its
// highest number of workers.
int DesiredWorkers(const State& state, const Job& job);

// Shows the job as PENDING because it has too few workers. `have` is how many it has.
void WaitForWorkers(Turn& turn, Job& job, size_t have);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_CANDIDATES_H_
