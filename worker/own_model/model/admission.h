// Compares what a task asks for with what its job does, before anything is computed.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_ADMISSION_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_ADMISSION_H_

#include "absl/status/status.h"
#include "worker/contract/optimizer_fields.h"
#include "worker/own_model/wire/description.h"

namespace rekindle::own_model {

// Says what the job does, as far as the task has to fit it.
struct JobFacts {
  // `exact` and `sixteen_bit` are those of train::TrainSpec.
  bool exact = true;
  bool sixteen_bit = false;
  // `learning_rate` is the highest rate of the job's schedule, and `weight_decay` is what its optimizer applies to
  // parameters with ParameterInfo::decay.
  double learning_rate = train::kLearningRate.initial;
  double weight_decay = 0;
  // `tries_sizes` says that the job chooses the size of its micro-batches by itself.
  bool tries_sizes = false;
  // `memory_bytes` is the memory that the trainer may use. 0 stands for all that the machine has.
  double memory_bytes = 0;
};

// Sets the rate and the weight decay of parameters by the optimizer groups of the task. Returns INVALID_ARGUMENT, with
// what to change, for the first thing of the task that does not fit the job:
// - an option of a group that a part of the parameters cannot have for itself, or a value out of its range,
// - samples that have an influence on each other in a job that chooses the size of its micro-batches.
// Returns RESOURCE_EXHAUSTED if the module cannot have room in the trainer's memory.
absl::Status Admit(const JobFacts& job, Description* description);

// Returns INVALID_ARGUMENT if the job evaluates every so many steps, and the task has nothing to evaluate on.
absl::Status MayEvaluate(const Description& description, int64_t evaluate_every);

// Returns INVALID_ARGUMENT if micro-batches of `before` samples must not be cut into such of `now` samples.
absl::Status MayResize(const Description& description, int before, int now);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_ADMISSION_H_
