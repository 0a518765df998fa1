// Resolves `micro_batch: auto`. The job's first trainer finds the micro-batch size once, or the size is taken over from
// an earlier job.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_MICRO_BATCH_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_MICRO_BATCH_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

inline constexpr char kMicroBatchLever[] = "micro_batch";

// Returns whether the resolved spec has no micro-batch size yet. Until it has one, no step can be taken, and only one
// trainer runs.
bool FindsMicroBatch(const Job& job);

// Sets how large a micro-batch may become, so that every worker gets some micro-batches. Where an earlier job of the
// same model found the size on the same kind of device, that size is used at once. The caller must call this before a
// trainer is placed. It does nothing while no usable node is known.
void ResolveMicroBatch(Turn& turn, Job& job);

// Takes the micro-batch size that the first trainer has found. The size is written to the resolved spec and the record,
// and an event tells of it.
void TakeMicroBatch(Turn& turn, Job& job, const v1::TrainerReport& report);

// Returns why the GPUs of a trainer's node are too small for the size that `micro_batch: auto` has found on a GPU, with
// both sizes, or an empty string where they are not. A processor without room halves the size instead.
std::string DescribeShortage(const State& state, const Job& job, const v1::TrainerReport& report);

// Returns why a trainer has to start again because it computes with another micro-batch size than the job's. Returns an
// empty string where it does not have to. A member takes the new size over with the next generation, unless the job is
// exact.
std::string StaleMicroBatch(const Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_MICRO_BATCH_H_
