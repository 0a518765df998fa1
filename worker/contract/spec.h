// Declares what the training engine needs to know of a job. The structs mirror the resolved JobSpec
// (proto/rekindle/v1/job_spec.proto), because the engine is free of protobuf. Values are validated at submit, and the
// engine relies on the ranges given here.
#ifndef REKINDLE_WORKER_CONTRACT_SPEC_H_
#define REKINDLE_WORKER_CONTRACT_SPEC_H_

#include <cstdint>
#include <map>
#include <string>

#include "checkpoint/format/planes.h"
#include "worker/contract/optimizer_fields.h"

namespace rekindle::train {

// Selects the type in which matrix products and attention compute. Weights, gradients and the optimizer are always
// float32.
enum class ComputeType { kFloat32, kBfloat16, kFloat16 };

// The files levers/optimizer_*.cc say which kinds of optimizers use a field of OptimizerSpec, and what the field's
// default is for each kind. The ranges of the fields are in optimizer_fields.h.
struct OptimizerSpec {
  // `kind` is the name of one of Optimizers().
  std::string kind = "adamw";
  // `learning_rate` is the highest rate of the schedule.
  double learning_rate = kLearningRate.initial;
  double beta1 = kBeta1.initial;
  double beta2 = kBeta2.initial;
  double epsilon = kEpsilon.initial;
  // `weight_decay` applies to parameters with ParameterInfo::decay.
  double weight_decay = kWeightDecay.initial;
  double momentum = kMomentum.initial;
};

// The files levers/schedule_*.cc say what each field of ScheduleSpec means and which kinds of schedules use it.
// `decay_steps`, `cycle_steps` and `cycle_growth` are at least 1. `factor` and `min_delta` are in [0, 1).
struct ScheduleSpec {
  // `kind` is the name of one of Schedules().
  std::string kind = "constant";
  // `warmup_steps` is at least 0. The warm-up is linear, and the learning rate of its first step is learning_rate /
  // warmup_steps.
  int warmup_steps = 0;
  // `final_ratio` is the lowest learning rate as a share of the highest, in [0, 1].
  double final_ratio = 0;
  int decay_steps = 1;
  int cycle_steps = 1;
  int cycle_growth = 1;
  double factor = 0;
  // A schedule that follows the validation loss lowers the learning rate once more than `patience` evaluations in a row
  // were not better than the best one. `patience` is at least 0.
  int patience = 0;
  // A validation loss counts as better if it is below (1 - `min_delta`) times the best one so far.
  double min_delta = 0;
};

// Maps the names of the fields in a lever's own section of the job's spec to their values. The lever declares the
// fields (StepLever).
using LeverSettings = std::map<std::string, double>;

struct CheckpointSpec {
  enum class Kind { kNever, kEverySteps, kEverySeconds, kAuto };
  Kind kind = Kind::kNever;
  // With kEverySteps a checkpoint is made every `every_steps` steps, and this number is above 0.
  int64_t every_steps = 0;
  // With kEverySeconds a checkpoint is made every `every_seconds` seconds, and this number is above 0.
  double every_seconds = 0;
  // `interruptions_per_hour` is used with kAuto. It is how often one node is interrupted, as the job states it. A value
  // below 0 means that this rate is measured.
  double interruptions_per_hour = -1;
  checkpoint::Precision precision = checkpoint::Precision::kExact;
  // `allow_nonfinite` permits checkpoints that contain NaN or infinities. Only the precision kExact can store these
  // values.
  bool allow_nonfinite = false;
  // Each `memory_every_steps` steps the state is kept in the memory of the nodes. 0 means never.
  int64_t memory_every_steps = 0;
};

struct TrainSpec {
  uint64_t seed = 0;
  int steps = 0;
  // `global_batch` counts the sequences of a step.
  int global_batch = 0;
  // `micro_batch` counts the sequences of one forward and backward pass, and it divides `global_batch`.
  int micro_batch = 0;
  // `context` counts the tokens of a sequence.
  int context = 0;
  ComputeType compute = ComputeType::kFloat32;
  // `exact` says that gradients are reduced in int64 fixed point instead of floats.
  bool exact = true;
  // `sixteen_bit` says that ranks send each other float gradients as bfloat16. It cannot be combined with `exact`.
  bool sixteen_bit = false;
  // `clip_norm` is the largest norm of the gradient. The value 0 means that gradients are not clipped.
  double clip_norm = 0;
  // `evaluate_every` is the number of steps between two evaluations. The value 0 means that only the final state is
  // evaluated.
  int evaluate_every = 0;
  int evaluate_micro_batches = 0;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  // `levers` has the settings of each lever that the job has switched on, by the lever's name.
  std::map<std::string, LeverSettings> levers;
  enum class OnDivergence { kWarn, kFail, kSkip };
  OnDivergence on_divergence = OnDivergence::kWarn;
  // `max_skipped` is the number of batches that a job may skip if its `on_divergence` is kSkip. It is at least 1.
  int max_skipped = 10;
  CheckpointSpec checkpoint;
  // With `sharded_state` the optimizer's moments are split into shards, and each shard is on two ranks. Otherwise every
  // rank has all moments.
  bool sharded_state = false;
  // `nccl_bucket_bytes` is the size of the buckets in which ranks exchange gradients by NCCL, or 0 for the usual one.
  // Tests with small models set it, because all of their gradients would be in one bucket.
  int64_t nccl_bucket_bytes = 0;

  // Returns M, the number of micro-batches in a step, which is at most kMaxMicroBatches.
  int micro_batches() const { return global_batch / micro_batch; }
};

// The number of micro-batches in a step is limited because memberships list the micro-batches.
inline constexpr int kMaxMicroBatches = 1 << 16;

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_SPEC_H_
