// After records were brought back from a copy, the newest state that anybody tells of may be older than what the job's
// store has: a later generation may have saved there, and be gone. So nothing is formed before somebody has looked into
// the store, or members have made a step, which they do in no generation but the newest.
#ifndef REKINDLE_COORDINATOR_CORE_LOOKING_H_
#define REKINDLE_COORDINATOR_CORE_LOOKING_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// What was seen in the store until now does not count any more: all trainers that wait are to look. Of a job
// without a store nothing is asked.
void AskToLook(State& state, Job& job);

// The second of two reports of one trainer: has it looked as it was asked to, or made a step between them? One that
// sees less than the record knows of has another folder, or an empty one, and has seen nothing. Where the store says
// that the job is over, it is.
void NoteLook(Turn& turn, Job& job, const v1::TrainerReport& before, const v1::TrainerReport& report);

// The user has said from where the job goes on, and nothing that anybody holds counts any more.
void NeedNotLook(Job& job);

// Never while it is finishing: no generation has more than all steps, and the store may be the one that fails.
bool MustLook(const Job& job);

// Says what is awaited. REQUIRES: MustLook.
void AwaitLook(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_LOOKING_H_
