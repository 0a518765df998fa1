// Lets somebody look into a job's store before anything is formed. After records were brought back from a copy, the
// newest state that anybody reports may be older than what the store has: a later generation may have saved there, and
// be gone. A step of the members will do as well, because members make steps in no generation but the newest.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Asks all trainers that wait to look into the store. What was seen there until now does not count any more. Does
// nothing for a job that is over or has no store.
void AskToLook(const Turn& turn, Job& job);

// Takes two reports of one trainer that follow each other. The look is done where the trainer has looked as it was
// asked to, or has made a step between them. A trainer that sees less than the record knows of has another folder, or
// an empty one, so its look does not count. The job ends where the store says that it is over.
void NoteLook(Turn& turn, Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report);

// Ends the search. The user has said from where the job goes on, and nothing that anybody holds counts any more.
void NeedNotLook(const Turn& turn, Job& job);

// Returns whether somebody has to look. It is never so while the job is finishing, as no generation has more than all
// steps, and the store may be the one that fails.
bool MustLook(const Job& job);

// Sets the job's state and reason to what is awaited. REQUIRES: `MustLook(job)`.
void AwaitLook(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_STORE_SEARCH_H_
