// Lets a trainer look into a job's store before a membership is formed. After records were brought back from a copy,
// the newest state that any trainer reports may be older than what the store has: the trainers of a later generation
// may have saved there, and be gone now. A step of the members makes the look unnecessary, because members make steps
// in no generation but the newest.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Asks all waiting trainers of the job to look into its store. What they saw there until now does not count any more.
// Does nothing for a job that is over or has no store.
void AskToLook(const Turn& turn, Job& job);

// Takes two consecutive reports of one trainer. The search in the store is done if the trainer has looked as it was
// asked to, or has made a step between the two reports. A trainer that sees less than the record knows of has another
// folder, or an empty one, so its look does not count. The job ends where the store says that it is over.
void NoteLook(Turn& turn, Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report);

// Ends the search in the job's store, because the user has said from where the job goes on, and nothing that any
// trainer holds counts any more.
void NeedNotLook(const Turn& turn, Job& job);

// Returns whether a trainer has to look into the job's store. A finishing job never needs that: it has made all of its
// steps, so no store has newer state, and its store may be the one that fails.
bool MustLook(const Job& job);

// Shows in the job's state and reason that a look into its store is awaited. REQUIRES: `MustLook(job)`.
void AwaitLook(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_
