// What the training engine needs to know of a job: plain mirrors of the resolved JobSpec (proto/rekindle/v1/job.proto),
// because the engine is free of protobuf. Values are validated at submit; the engine relies on the ranges given here.
#ifndef REKINDLE_WORKER_TRAIN_SPEC_H_
#define REKINDLE_WORKER_TRAIN_SPEC_H_

#include <cstdint>
#include <string>

#include "checkpoint/planes.h"

namespace rekindle::train {

// What matrix products and attention compute in. Weights, gradients and the optimizer are always float32.
enum class ComputeType { kFloat32, kBfloat16, kFloat16 };

// Which kinds use a field, and its default there: levers/optimizer_*.cc.
struct OptimizerSpec {
  std::string kind = "adamw";   // Of Optimizers().
  double learning_rate = 1e-3;  // The highest of the schedule; > 0.
  double beta1 = 0.9;           // [0, 1)
  double beta2 = 0.95;          // [0, 1)
  double epsilon = 1e-8;        // > 0
  double weight_decay = 0.1;    // >= 0; on parameters with ParameterInfo::decay.
  double momentum = 0;          // [0, 1)
};

// What each field means, and which kinds use it: levers/schedule_*.cc.
struct ScheduleSpec {
  std::string kind = "constant";  // Of Schedules().
  int warmup_steps = 0;           // >= 0; linear from learning_rate / warmup_steps.
  double final_ratio = 0;         // [0, 1]; the lowest learning rate as a share of the highest.
  int decay_steps = 1;            // >= 1
  int cycle_steps = 1;            // >= 1
  int cycle_growth = 1;           // >= 1
  double factor = 0;              // [0, 1)
  int patience = 0;               // >= 0; evaluations.
  double min_delta = 0;           // [0, 1); of the best loss.
};

struct EarlyStopSpec {
  int patience = 0;      // >= 1 evaluations; 0: never stops early.
  double min_delta = 0;  // >= 0; nats a token.
};

struct CheckpointSpec {
  enum class Kind { kNever, kEverySteps, kEverySeconds, kAuto };
  Kind kind = Kind::kNever;
  int64_t every_steps = 0;             // kEverySteps; > 0.
  double every_seconds = 0;            // kEverySeconds; > 0.
  double interruptions_per_hour = -1;  // kAuto: of one node, as the job states it. Below 0: measured.
  checkpoint::Precision precision = checkpoint::Precision::kExact;
  bool allow_nonfinite = false;  // Save NaN and infinities too; kExact alone keeps them.
};

struct TrainSpec {
  uint64_t seed = 0;
  int steps = 0;
  int global_batch = 0;  // Sequences a step.
  int micro_batch = 0;   // Sequences a forward and backward; divides global_batch.
  int context = 0;       // Tokens a sequence.
  ComputeType compute = ComputeType::kFloat32;
  bool exact = true;         // Reduction in int64 fixed point; else in floats.
  bool sixteen_bit = false;  // Those floats are bfloat16 between ranks; not with `exact`.
  double clip_norm = 0;      // 0: no clipping.
  int evaluate_every = 0;    // Steps; 0: only at the end.
  int evaluate_micro_batches = 0;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  EarlyStopSpec early_stop;
  enum class OnDivergence { kWarn, kFail, kSkip };
  OnDivergence on_divergence = OnDivergence::kWarn;
  int max_skipped = 10;  // >= 1; with kSkip.
  CheckpointSpec checkpoint;
  bool sharded_state = false;  // The optimizer's moments are in shards on two ranks each; else whole on every rank.

  // M: micro-batches of a step. At most kMaxMicroBatches.
  int micro_batches() const { return global_batch / micro_batch; }
};

inline constexpr int kMaxMicroBatches = 1 << 16;

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SPEC_H_
