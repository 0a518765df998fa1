// One step of one rank: compute the assigned micro-batches, reduce the gradient while the last backward still runs,
// gather everybody's message. Writes no parameter: the caller applies the outcome, or does not.
#ifndef REKINDLE_WORKER_TRAIN_STEP_H_
#define REKINDLE_WORKER_TRAIN_STEP_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/communicator.h"
#include "worker/train/accumulator.h"
#include "worker/train/batch_source.h"
#include "worker/train/gradient_buckets.h"
#include "worker/train/gradient_norm.h"
#include "worker/train/model.h"
#include "worker/train/reporter.h"
#include "worker/train/spec.h"
#include "worker/train/state.h"
#include "worker/train/step_message.h"
#include "worker/train/step_ranges.h"
#include "worker/train/trainer_metrics.h"

namespace rekindle::train {

// The same on every rank.
struct StepOutcome {
  StepRecord record;      // Of the whole batch, checked to be whole.
  StepRecord evaluation;  // Of the weights at `record.step`; no micro-batches: none was due.
  bool yield = false;     // Somebody was asked to: all stop at the next boundary.
  bool yield_with_checkpoint = false;
  bool begin_checkpoint = false;  // Rank 0 decided that the state after this step is saved.
  bool lease_holds = false;       // Some rank may step: then all may.
  double sent = 0;              // When this rank said whether its own does, by the lease's clock. Not the same on all.
  int64_t committed_step = -1;  // Newest durable checkpoint that any rank knows.
  GradientView gradient;        // Reduced; valid until the next Run.
  GradientBuffer* reduced = nullptr;  // Its memory.
  std::vector<StepMessage> messages;  // By rank.
};

// What this rank adds to the exchange beside its gradient.
struct StepExtras {
  bool yield = false;
  bool yield_with_checkpoint = false;
  bool begin_checkpoint = false;
  int64_t committed_step = -1;
  int64_t checkpoint_step = 0;
  std::vector<checkpoint::ShardRef> shards;
  int most_shards = 0;           // That any rank may have.
  StepRange range;               // Of whole steps: a due evaluation is shared out alike.
  const Lease* lease = nullptr;  // Asked as the message is sent. Null: it has no end.
};

// Thread-compatible.
class StepRunner {
 public:
  // All outlive it.
  StepRunner(Model& model, BatchSource& batches, const TrainSpec& spec, Reporter& reporter, MetricsBoard& metrics);

  // Makes the accumulator hold exactly `assigned` of (scalars.step, scalars.attempt): what it holds already, from an
  // interrupted generation, is not computed again. Then reduces. Computing always goes on to its end, even when the
  // communicator has died: the promise made in the report is kept.
  //
  // Errors: that of the communicator; INVALID_ARGUMENT when the job is at fault (a loss that is not finite ...).
  absl::Status Run(const StateScalars& scalars, const std::set<int>& assigned, const StepExtras& extras,
                   comm::Communicator& communicator, StepOutcome* outcome);

  // Mean validation loss of the present weights over all micro-batches, shares combined exactly.
  absl::Status Evaluate(const StateScalars& scalars, const StepRange& range, comm::Communicator& communicator,
                        StepRecord* combined);

  // The state has been replaced: nothing held is of use.
  void Forget();
  // The spec's micro-batch size has changed. REQUIRES: no communicator uses what was reduced.
  void Resize();

  // Micro-batches computed by the last Run.
  int computed() const { return cost_.micro_batches; }

 private:
  absl::Status Compute(const StateScalars& scalars, const std::set<int>& assigned, comm::Communicator& communicator);
  absl::Status ComputeOne(const StateScalars& scalars, int index, bool last, comm::Communicator& communicator);
  void Reduce(int bucket, comm::Communicator& communicator);
  absl::Status GatherSquares(const StateScalars& scalars);
  void CostExchange(double start, double blocked, const comm::Communicator& communicator);
  absl::Status Gather(const StateScalars& scalars, const StepExtras& extras, comm::Communicator& communicator,
                      StepOutcome* outcome);
  absl::Status EvaluateShare(const StateScalars& scalars, const StepRange& range, StepRecord* share);
  bool EvaluationDue(int64_t step) const;

  Model& model_;
  BatchSource& batches_;
  const TrainSpec& spec_;
  Reporter& reporter_;
  MetricsBoard& metrics_;
  const std::vector<GradientBucket> buckets_;
  BucketReadiness readiness_;
  GradientAccumulator accumulator_;
  GradientBuffer reduced_;
  std::vector<uint16_t> wire_;  // With spec_.sixteen_bit: what of it is between ranks.
  SquaresGatherer squares_;     // Of `reduced_`.
  std::vector<comm::Work> works_;
  std::set<int> held_;
  bool begun_ = false;
  StepCost cost_;       // Of the running step, and of the exchange before it in this generation.
  int generation_ = 0;  // Of the newest exchange.
  int64_t evaluated_step_ = -1;
  std::map<int, LossSum> evaluated_;  // Of evaluated_step_, by validation micro-batch.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_H_
