// A trainer ran out of memory in a step: from the next boundary on the job computes in smaller micro-batches.
#ifndef REKINDLE_COORDINATOR_CORE_OUT_OF_MEMORY_H_
#define REKINDLE_COORDINATOR_CORE_OUT_OF_MEMORY_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// A current member says that it ran out of memory, and holds its state.
void TakeOutOfMemory(Turn& turn, Job& job, const v1::TrainerReport& report);

// The same of a trainer that `how` has told of, dead or alive. The micro-batch is halved (by its smallest factor), the
// global batch stays; the next generation begins at a step boundary with it. Nothing where the size has changed since,
// or is one sample. With reduce exact the size is part of the result: after the first step the job fails and says what
// to do.
void HalveMicroBatch(Turn& turn, Job& job, const std::string& trainer, const std::string& how);

// Makes the job's micro-batch so much smaller; an evaluation reads what it did. REQUIRES: now > 0, a size that is
// known.
void ScaleMicroBatch(Job& job, int now);

// The newest membership computes with another size than the job's: what its members hold of a step is of no use.
bool SizeHasChanged(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_OUT_OF_MEMORY_H_
