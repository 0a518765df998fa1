// Handles a trainer that ran out of memory in a step. From the next step boundary on the job computes in smaller
// micro-batches.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_MEMORY_SHORTAGE_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_MEMORY_SHORTAGE_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Calls `HalveMicroBatch` where the report says that its sender ran out of memory. REQUIRES: the sender is a current
// member and holds its state.
void TakeMemoryShortage(Turn& turn, Job& job, const v1::TrainerReport& report);

// Divides the micro-batch by its smallest factor after `trainer`, dead or alive, ran out of memory. `how` describes
// what happened. The global batch stays, and the next generation begins at a step boundary with the new size. Does
// nothing where the size has changed since, or is one sample. With `reduce: exact` the size is part of the result. Such
// a job fails after its first step, and its reason says what to do.
void HalveMicroBatch(Turn& turn, Job& job, const std::string& trainer, const std::string& how);

// Sets the job's micro-batch to `now` samples. Evaluations go on reading the same samples as before. REQUIRES: `now` is
// positive and divides the present size, which is known.
void ScaleMicroBatch(Job& job, int now);

// Returns whether the newest membership computes with another micro-batch size than the job's. What its members hold of
// a step is of no use then.
bool SizeHasChanged(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_MEMORY_SHORTAGE_H_
