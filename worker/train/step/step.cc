#include "worker/train/step/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/time/clock.h"
#include "kernels/layers/bfloat16.h"

namespace rekindle::train {
namespace {

// A bucket of `kBucketElements` is small enough to start reducing early, and large enough that the latency of a
// collective does not count.
constexpr int64_t kBucketElements = 256 * 1024;

GradientAccumulator::Mode ModeOf(const TrainSpec& spec) {
  return spec.exact ? GradientAccumulator::Mode::kExact : GradientAccumulator::Mode::kFloat32;
}

// Adds zero gradients for a micro-batch without a finite loss. So the micro-batch is not missing, and all ranks learn
// of the loss from the step's record.
LossSum NothingOf(const ParameterLayout& layout, const GradientSink& sink) {
  for (size_t p = layout.parameters.size(); p-- > 0;) {
    const std::vector<float> zeros(static_cast<size_t>(layout.parameters[p].size));
    sink(static_cast<int>(p), zeros);
  }
  return {.sum = std::numeric_limits<double>::quiet_NaN(), .count = 1};
}

// Checks that the evaluation is finite and whole. A loss that is left out would make the mean look better than it is.
absl::Status CheckEvaluation(const StepRecord& record, int micro_batches) {
  if (record.loss_not_finite) {
    return absl::InvalidArgumentError(
        "the validation loss is not finite, or too large to be added up exactly; lower "
        "optimizer.learning_rate, or look at the data");
  }
  return CheckWhole(record, micro_batches);
}

}  // namespace

StepRunner::StepRunner(Model& model, BatchSource& batches, const TrainSpec& spec, Reporter& reporter,
                       MetricsBoard& metrics)
    : model_(model),
      batches_(batches),
      spec_(spec),
      reporter_(reporter),
      metrics_(metrics),
      buckets_(CutIntoBuckets(model.layout(), kBucketElements)),
      readiness_(&buckets_),
      accumulator_(&model.layout(), ModeOf(spec), spec.micro_batches()),
      reduced_(spec.exact, model.layout().total),
      wire_(spec.sixteen_bit ? static_cast<size_t>(model.layout().total) : 0),
      squares_(model.layout()) {}

void StepRunner::Forget() {
  begun_ = false;
  evaluated_step_ = -1;
}

void StepRunner::Resize() {
  Forget();
  held_.clear();
  accumulator_.SetMicroBatches(spec_.micro_batches());
}

absl::Status StepRunner::Run(const StateScalars& scalars, const std::set<int>& assigned, const StepExtras& extras,
                             comm::Communicator& communicator, StepOutcome* outcome) {
  works_.clear();
  model_.TakeWeights();
  if (std::exchange(generation_, communicator.generation()) != communicator.generation()) cost_ = {};
  StepRecord share;
  if (absl::Status status = EvaluateShare(scalars, extras.range, &share); !status.ok()) return status;
  outcome->evaluation = std::move(share);
  if (absl::Status status = Compute(scalars, assigned, communicator); !status.ok()) return status;
  const double start = common::SteadySeconds(), blocked = communicator.send_blocked_seconds();
  absl::Status status = Gather(scalars, extras, communicator, outcome);
  CostExchange(start, blocked, communicator);
  if (!status.ok()) return status;
  outcome->gradient = reduced_.view();
  outcome->reduced = &reduced_;
  outcome->gradient.squares = squares_.Total();
  if (EvaluationDue(scalars.step)) status = CheckEvaluation(outcome->evaluation, batches_.validation_micro_batches());
  if (!status.ok()) return status;
  return CheckWhole(outcome->record, spec_.micro_batches());
}

// Measures the exchange of this step. Its cost travels in the next step's message, because no rank knows how long an
// exchange takes before it has ended.
void StepRunner::CostExchange(double start, double blocked, const comm::Communicator& communicator) {
  cost_.exchange_seconds = common::SteadySeconds() - start;
  cost_.blocked_seconds = communicator.send_blocked_seconds() - blocked;
  metrics_.Update([&](TrainerMetrics& m) { m.reduce_seconds += cost_.exchange_seconds; });
}

absl::Status StepRunner::Compute(const StateScalars& scalars, const std::set<int>& assigned,
                                 comm::Communicator& communicator) {
  const bool same = begun_ && accumulator_.step() == scalars.step && accumulator_.attempt() == scalars.attempt &&
                    std::includes(assigned.begin(), assigned.end(), held_.begin(), held_.end());
  if (!same) {
    accumulator_.Begin(scalars.step, scalars.attempt, scalars.exponents, scalars.loss_scale.log2);
    held_.clear();
    begun_ = true;
  }
  std::vector<int> missing;
  std::set_difference(assigned.begin(), assigned.end(), held_.begin(), held_.end(), std::back_inserter(missing));
  cost_.micro_batches = static_cast<int>(missing.size());
  cost_.data_seconds = cost_.compute_seconds = 0;
  for (size_t i = 0; i < missing.size(); ++i) {
    const bool last = i + 1 == missing.size();
    if (absl::Status status = ComputeOne(scalars, missing[i], last, communicator); !status.ok()) {
      begun_ = false;
      return status;
    }
    reporter_.Computed(static_cast<int>(held_.size()));
  }
  if (missing.empty()) {
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) Reduce(static_cast<int>(bucket), communicator);
  }
  return absl::OkStatus();
}

absl::Status StepRunner::ComputeOne(const StateScalars& scalars, int index, bool last,
                                    comm::Communicator& communicator) {
  const double start = common::SteadySeconds();
  const MicroBatch batch = batches_.Train(scalars.step, index);
  const double loaded = common::SteadySeconds();
  readiness_.Reset();
  const auto sink = [&](int parameter, std::span<const float> gradient) {
    accumulator_.Add(parameter, gradient);
    if (last) readiness_.Arrived(parameter, [&](int bucket) { Reduce(bucket, communicator); });
  };
  auto loss = model_.Backward(batch, {.seed = spec_.seed, .step = scalars.step},
                              std::ldexp(1.0f, scalars.loss_scale.log2), sink);
  if (absl::IsOutOfRange(loss.status()) && spec_.on_divergence == TrainSpec::OnDivergence::kSkip) {
    loss = NothingOf(model_.layout(), sink);
  }
  if (!loss.ok()) {
    return absl::Status(loss.status().code(),
                        "step " + std::to_string(scalars.step + 1) + ", " + std::string(loss.status().message()));
  }
  if (absl::Status status = accumulator_.MicroBatchDone(index, *loss); !status.ok()) return status;
  held_.insert(index);
  const double end = common::SteadySeconds();
  cost_.data_seconds += loaded - start;
  cost_.compute_seconds += end - loaded;
  metrics_.Update([&](TrainerMetrics& m) {
    m.data_seconds += loaded - start;
    m.compute_seconds += end - loaded;
  });
  return absl::OkStatus();
}

void StepRunner::Reduce(int bucket, comm::Communicator& communicator) {
  const GradientBucket& b = buckets_[static_cast<size_t>(bucket)];
  if (spec_.sixteen_bit) {
    uint16_t* wire = wire_.data() + b.offset;
    kernels::ToBfloat16(static_cast<const float*>(accumulator_.Data(b)), b.count, wire);
    works_.push_back(communicator.AllReduce(wire, wire, static_cast<size_t>(b.count), comm::DataType::kBfloat16,
                                            comm::ReduceOp::kSum));
    return;
  }
  works_.push_back(communicator.AllReduce(accumulator_.Data(b), reduced_.At(b.offset), static_cast<size_t>(b.count),
                                          spec_.exact ? comm::DataType::kInt64 : comm::DataType::kFloat32,
                                          comm::ReduceOp::kSum));
}

// Gathers the squares of each bucket as soon as it is reduced, while the next buckets are still being reduced. Buckets
// are reduced in the order in which they were issued.
absl::Status StepRunner::GatherSquares(const StateScalars& scalars) {
  absl::Status status;
  for (size_t bucket = 0; bucket < works_.size(); ++bucket) {
    status.Update(works_[bucket].Wait());
    const GradientBucket& b = buckets_[bucket];
    if (status.ok() && spec_.sixteen_bit) {
      kernels::FromBfloat16(wire_.data() + b.offset, b.count, reduced_.values() + b.offset);
    }
    if (status.ok()) squares_.Add(reduced_.view(), scalars.exponents, b);
  }
  return status;
}

absl::Status StepRunner::Gather(const StateScalars& scalars, const StepExtras& extras, comm::Communicator& communicator,
                                StepOutcome* outcome) {
  if (extras.lease != nullptr) outcome->sent = extras.lease->Now();
  StepMessage message{.step = scalars.step,
                      .attempt = scalars.attempt,
                      .yield = extras.yield,
                      .yield_with_checkpoint = extras.yield_with_checkpoint,
                      .lease_holds = extras.lease == nullptr || extras.lease->Holds(communicator.generation()),
                      .record = accumulator_.record(),
                      .evaluation = std::move(outcome->evaluation),
                      .cost = cost_,
                      .committed_step = extras.committed_step,
                      .begin_checkpoint = extras.begin_checkpoint,
                      .checkpoint_step = extras.checkpoint_step,
                      .shards = extras.shards};
  const StepMessageLayout layout{static_cast<int>(model_.layout().parameters.size()), extras.most_shards};
  const std::vector<uint8_t> mine = Encode(message, layout);
  std::vector<uint8_t> all(mine.size() * static_cast<size_t>(communicator.world_size()));
  const comm::Work gathered = communicator.AllGather(mine.data(), all.data(), mine.size());
  absl::Status reduced = GatherSquares(scalars);
  reduced.Update(gathered.Wait());
  if (!reduced.ok()) return reduced;
  outcome->record = EmptyRecord(scalars.step, scalars.attempt, model_.layout().parameters.size());
  outcome->evaluation = EmptyRecord(scalars.step, 0, 0);
  for (int rank = 0; rank < communicator.world_size(); ++rank) {
    auto decoded = Decode(std::span(all).subspan(static_cast<size_t>(rank) * mine.size(), mine.size()), layout);
    if (!decoded.ok()) return decoded.status();
    absl::Status status = CombineRecords(decoded->record, &outcome->record);
    status.Update(CombineRecords(decoded->evaluation, &outcome->evaluation));
    if (!status.ok()) return status;
    outcome->yield = outcome->yield || decoded->yield;
    outcome->lease_holds = outcome->lease_holds || decoded->lease_holds;
    outcome->yield_with_checkpoint = outcome->yield_with_checkpoint || decoded->yield_with_checkpoint;
    outcome->committed_step = std::max(outcome->committed_step, decoded->committed_step);
    outcome->messages.push_back(*std::move(decoded));
  }
  outcome->begin_checkpoint = outcome->messages.front().begin_checkpoint;
  return absl::OkStatus();
}

bool StepRunner::EvaluationDue(int64_t step) const {
  if (batches_.validation_micro_batches() == 0) return false;
  if (step == spec_.steps) return true;
  return step > 0 && spec_.evaluate_every > 0 && step % spec_.evaluate_every == 0;
}

// Evaluates the same share of the validation micro-batches as `range` is of a step, so that ranks of unequal speed
// finish together.
absl::Status StepRunner::EvaluateShare(const StateScalars& scalars, const StepRange& range, StepRecord* share) {
  *share = EmptyRecord(scalars.step, 0, 0);
  if (!EvaluationDue(scalars.step)) return absl::OkStatus();
  if (evaluated_step_ != scalars.step) {
    evaluated_.clear();
    evaluated_step_ = scalars.step;
  }
  const int count = batches_.validation_micro_batches();
  for (int index = 0; index < count; ++index) {
    const int64_t place = int64_t{index} * spec_.micro_batches() / count;
    if (place < range.begin || place >= range.end) continue;
    if (!evaluated_.contains(index)) {
      const auto loss = model_.Evaluate(batches_.Validation(index));
      if (!loss.ok()) return loss.status();
      evaluated_[index] = *loss;
    }
    AddLoss(index, evaluated_[index], count, share);
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Evaluate(const StateScalars& scalars, const StepRange& range, comm::Communicator& communicator,
                                  StepRecord* combined) {
  model_.TakeWeights();
  StepRecord share;
  absl::Status status = EvaluateShare(scalars, range, &share);
  if (!status.ok()) return status;
  const std::vector<uint8_t> mine = EncodeRecord(share);
  std::vector<uint8_t> all(mine.size() * static_cast<size_t>(communicator.world_size()));
  status = communicator.AllGather(mine.data(), all.data(), mine.size()).Wait();
  *combined = EmptyRecord(scalars.step, 0, 0);
  for (int rank = 0; status.ok() && rank < communicator.world_size(); ++rank) {
    StepRecord record;
    status.Update(
        DecodeRecord(std::span(all).subspan(static_cast<size_t>(rank) * mine.size(), mine.size()), 0, &record));
    if (status.ok()) status.Update(CombineRecords(record, combined));
  }
  if (status.ok() && EvaluationDue(scalars.step)) {
    status = CheckEvaluation(*combined, batches_.validation_micro_batches());
  }
  return status;
}

}  // namespace rekindle::train
