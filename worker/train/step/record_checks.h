// Checks what the combined record of a step shows: what must hold before the step may be applied.
//
// Each function returns OK, or INVALID_ARGUMENT with the step and what the user can do. All ranks have the same
// combined record, so all of them get the same answer.
#ifndef REKINDLE_WORKER_TRAIN_STEP_RECORD_CHECKS_H_
#define REKINDLE_WORKER_TRAIN_STEP_RECORD_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/step_record.h"

namespace rekindle::train {

// Checks that all micro-batches give the same values to buffers of whole numbers, which have no mean. The error names
// the buffers of the layout that it may be.
absl::Status CheckWholeBuffers(const StepRecord& record, int64_t step, const ParameterLayout& layout);

// Checks that the ranks have read the checked sample of the step alike. `sample` is its number.
absl::Status CheckSample(const StepRecord& record, int64_t step, int64_t sample);

// Checks that the evaluation is finite and whole. A loss that is left out would make the mean look better than it is.
// Returns INTERNAL if the ranks' micro-batches are no partition of the `micro_batches`.
absl::Status CheckEvaluation(const StepRecord& record, int64_t step, int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_RECORD_CHECKS_H_
