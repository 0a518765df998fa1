// Runs one step of one rank on its device. StepRunner computes the assigned micro-batches, reduces the gradient while
// the last backward still runs, and gathers the messages of all ranks. It writes no parameter. The caller decides
// whether to apply the outcome.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/arithmetic/gradient_buckets.h"
#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/control/reporter.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/device_model.h"
#include "worker/train/step/step_message.h"
#include "worker/train/step/step_ranges.h"
#include "worker/train/step/trainer_metrics.h"

namespace rekindle::train {

// Holds the outcome of a step. All fields are the same on every rank except `sent`.
struct StepOutcome {
  // `record` covers the whole batch. It has been checked that no micro-batch is missing.
  StepRecord record;
  // `evaluation` is the evaluation of the weights at `record.step`. It has no micro-batches when no evaluation was due.
  StepRecord evaluation;
  // `yield` says that some rank was asked to yield. All ranks then stop at the next boundary.
  bool yield = false;
  bool yield_with_checkpoint = false;
  // `begin_checkpoint` says that rank 0 decided to save the state after this step.
  bool begin_checkpoint = false;
  // `lease_holds` says that the lease of some rank holds. Then all ranks may step.
  bool lease_holds = false;
  // `sent` is the time, by the lease's clock, at which this rank told the others whether its own lease holds.
  double sent = 0;
  // `committed_step` is the step of the newest durable checkpoint that any rank knows.
  int64_t committed_step = -1;
  // `gradient` is the reduced gradient, and `squares` its GradientSumOfSquares. It is valid until the next Run.
  const GradientBuffer* gradient = nullptr;
  double squares = 0;
  // `lost_seconds` is the largest StepCost::lost_seconds of a rank.
  double lost_seconds = 0;
  // `messages` holds the step's messages of all ranks, indexed by rank.
  std::vector<StepMessage> messages;
};

// Holds what this rank adds to the exchange beside its gradient.
struct StepExtras {
  bool yield = false;
  bool yield_with_checkpoint = false;
  bool begin_checkpoint = false;
  int64_t committed_step = -1;
  int64_t checkpoint_step = 0;
  std::vector<checkpoint::ShardRef> shards;
  // `most_shards` is the largest number of shards that any rank may have.
  int most_shards = 0;
  // `range` is the range of micro-batches that this rank computes in a whole step. A due evaluation is split among the
  // ranks in the same proportion.
  StepRange range;
  // `lease` limits how long this rank may step. When Run() sends this rank's message, it asks the lease whether the
  // rank may still step. Null means a lease without end.
  const Lease* lease = nullptr;
};

// StepRunner is thread-compatible.
class StepRunner {
 public:
  // All arguments of the constructor must outlive the StepRunner.
  StepRunner(device::Device& device, DeviceModel& model, BatchSource& batches, const TrainSpec& spec,
             Reporter& reporter, MetricsBoard& metrics);

  // Allocates what the steps need on the device. Returns RESOURCE_EXHAUSTED if the device has no room.
  absl::Status Allocate();

  // Computes those of the micro-batches `assigned` of (scalars.step, scalars.attempt) of `state` that the accumulator
  // does not hold from an interrupted generation, then reduces. Computing always goes on to its end, even when the
  // communicator has died, because the rank's report has promised these micro-batches.
  //
  // Returns the error of the communicator or of the device, or INVALID_ARGUMENT when the job is at fault, for example
  // by a loss that is not finite.
  absl::Status Run(const TrainState& state, const std::set<int>& assigned, const StepExtras& extras,
                   device::Exchange& exchange, StepOutcome* outcome);

  // Computes the mean validation loss of the current weights over all micro-batches. The ranks' shares are combined
  // exactly.
  absl::Status Evaluate(const TrainState& state, const StepRange& range, comm::Communicator& communicator,
                        StepRecord* combined);

  // Forgets all held micro-batches, because the state has been replaced.
  void Forget();
  // Adapts the accumulator to a changed micro-batch size in the spec. REQUIRES: no communicator uses the reduced
  // gradient.
  void Resize();

  // Returns the number of micro-batches computed by the last Run.
  int computed() const { return cost_.micro_batches; }

 private:
  // Cuts the gradient into the buckets that fit the transport.
  void CutFor(const device::Exchange& exchange);
  absl::Status Compute(const TrainState& state, const std::set<int>& assigned, device::Exchange& exchange);
  absl::Status ComputeOne(const TrainState& state, int index, bool last, device::Exchange& exchange);
  absl::Status Take(const StateScalars& scalars, bool wait);
  void CountComputing(double seconds);
  // Takes what the model has lost since `before` out of the time of computing.
  void LeaveOutLost(double before);
  void Reduce(int bucket, device::Exchange& exchange);
  bool TravelsInSixteenBits(const GradientBucket& bucket) const;
  device::Range WireOf(const GradientBucket& bucket) const;
  absl::Status GatherSquares(const StateScalars& scalars, device::Exchange& exchange);
  void CostExchange(double start, double blocked, const comm::Communicator& communicator);
  absl::Status Gather(const StateScalars& scalars, const StepExtras& extras, device::Exchange& exchange,
                      StepOutcome* outcome);
  absl::Status Combine(const std::vector<uint8_t>& all, const StepMessageLayout& layout, const StateScalars& scalars,
                       StepOutcome* outcome) const;
  absl::Status EvaluateShare(const TrainState& state, const StepRange& range, StepRecord* share);
  bool EvaluationDue(int64_t step) const;

  device::Device& device_;
  DeviceModel& model_;
  BatchSource& batches_;
  const TrainSpec& spec_;
  Reporter& reporter_;
  MetricsBoard& metrics_;
  // `bucket_elements_` is the size by which `buckets_` was cut.
  int64_t bucket_elements_ = 0;
  std::vector<GradientBucket> buckets_;
  BucketReadiness readiness_;
  GradientAccumulator accumulator_;
  GradientBuffer reduced_;
  // With spec_.sixteen_bit, `wire_` holds the gradient in the form in which it travels between ranks.
  device::Memory wire_;
  // `squares_` gathers the sum of squares of the reduced gradient, which is in `reduced_`.
  SquaresGatherer squares_;
  // `reductions_` has the reduction of each bucket. Operations of the compute queue begin them.
  std::vector<device::Exchange::Ticket> reductions_;
  std::set<int> held_;
  bool begun_ = false;
  // `cost_` is the cost of the running step. Its times of the exchange are those of the step before in this generation,
  // because the running step's exchange has not ended.
  StepCost cost_;
  // `lost_before_` is DeviceModel::LostSeconds() at the start of the running step.
  double lost_before_ = 0;
  // `generation_` is the generation in which this rank exchanged last.
  int generation_ = 0;
  int64_t evaluated_step_ = -1;
  // `evaluated_` holds the losses of the weights at `evaluated_step_`, keyed by the index of the validation
  // micro-batch.
  std::map<int, LossSum> evaluated_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_H_
