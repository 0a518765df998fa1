// What `micro_batch: auto` comes to: found once, by the job's first trainer, or taken over from an earlier job.
#ifndef REKINDLE_COORDINATOR_CORE_MICRO_BATCH_H_
#define REKINDLE_COORDINATOR_CORE_MICRO_BATCH_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

inline constexpr char kMicroBatchLever[] = "micro_batch";
inline constexpr int kSearching = -1;  // TrainerReport.micro_batch of a trainer that is still looking for it.

// The resolved spec has no size yet: no step can be taken, and one trainer is all that runs.
bool FindsMicroBatch(const Job& job);

// Before a trainer is placed and as soon as there is a node: how large a micro-batch may become, so that all workers
// get some; or the size itself, where an earlier job of the same model found it on the same kind of device.
void SettleMicroBatch(Turn& turn, Job& job);

// What the first trainer has found is the job's from then on: resolved, told and remembered.
void TakeMicroBatch(Turn& turn, Job& job, const v1::TrainerReport& report);

// Why a trainer has to start again, because it computes with another size than the job's; empty: it does not. A member
// takes the size over with the next generation, unless the job is exact.
std::string StaleMicroBatch(const Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MICRO_BATCH_H_
