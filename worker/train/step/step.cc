#include "worker/train/step/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/time/clock.h"
#include "worker/train/step/record_checks.h"

namespace rekindle::train {
namespace {

// Between hosts, a bucket of `kBucketElements` is small enough to start reducing early, and large enough that the
// latency of a collective does not count.
constexpr int64_t kBucketElements = 256 * 1024;
constexpr auto kWireBytes = static_cast<int64_t>(sizeof(uint16_t));

GradientAccumulator::Mode ModeOf(const TrainSpec& spec) {
  return spec.exact ? GradientAccumulator::Mode::kExact : GradientAccumulator::Mode::kFloat32;
}

// Returns the error of a step with the number that the step would have had.
absl::Status AtStep(int64_t step, const absl::Status& error) {
  absl::Status at_step(error.code(), absl::StrCat("step ", step + 1, ", ", error.message()));
  error.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { at_step.SetPayload(url, payload); });
  return at_step;
}

}  // namespace

StepRunner::StepRunner(device::Device& device, DeviceModel& model, BatchSource& batches, const TrainSpec& spec,
                       Reporter& reporter, MetricsBoard& metrics)
    : device_(device),
      model_(model),
      batches_(batches),
      spec_(spec),
      reporter_(reporter),
      metrics_(metrics),
      bucket_elements_(kBucketElements),
      buckets_(CutIntoBuckets(model.layout(), bucket_elements_)),
      readiness_(&buckets_),
      accumulator_(device, &model.layout(), ModeOf(spec), spec.micro_batches()),
      reduced_(spec.exact),
      squares_(device, model.layout()) {}

absl::Status StepRunner::Allocate() {
  const int64_t total = model_.layout().total;
  absl::Status status = accumulator_.Allocate();
  if (status.ok()) status = reduced_.Allocate(device_, total, "the reduced gradient");
  if (status.ok()) status = squares_.Allocate();
  if (!status.ok() || !spec_.sixteen_bit) return status;
  absl::StatusOr<device::Memory> wire = device_.Allocate(total * kWireBytes, "the gradient in 16 bits");
  if (!wire.ok()) return wire.status();
  wire_ = *std::move(wire);
  return absl::OkStatus();
}

// All ranks of a generation have one transport, so they cut alike. NCCL needs larger pieces than hosts do, because
// beginning a collective costs more there than moving a megabyte (PyTorch's buckets have 25 MiB for that reason).
void StepRunner::CutFor(const device::Exchange& exchange) {
  const int64_t element_bytes = spec_.sixteen_bit ? kWireBytes : reduced_.element_bytes();
  const bool by_nccl = exchange.transport() == device::Transport::kNccl;
  const int64_t nccl_bytes = spec_.nccl_bucket_bytes > 0 ? spec_.nccl_bucket_bytes : device::kMostReducedBytes;
  const int64_t elements = by_nccl ? std::max<int64_t>(1, nccl_bytes / element_bytes) : kBucketElements;
  if (std::exchange(bucket_elements_, elements) == elements) return;
  buckets_ = CutIntoBuckets(model_.layout(), elements);
  readiness_ = BucketReadiness(&buckets_);
}

void StepRunner::Forget() {
  // Micro-batches are still under way if reading another one has failed.
  accumulator_.Take(/*wait=*/true).IgnoreError();
  begun_ = false;
  evaluated_step_ = -1;
}

void StepRunner::Resize() {
  Forget();
  held_.clear();
  accumulator_.SetMicroBatches(spec_.micro_batches());
}

absl::Status StepRunner::Run(const TrainState& state, const std::set<int>& assigned, const StepExtras& extras,
                             device::Exchange& exchange, StepOutcome* outcome) {
  const StateScalars& scalars = state.scalars;
  comm::Communicator& communicator = exchange.communicator();
  CutFor(exchange);
  reductions_.clear();
  if (std::exchange(generation_, communicator.generation()) != communicator.generation()) cost_ = {};
  lost_before_ = model_.LostSeconds();
  StepRecord share;
  if (absl::Status status = EvaluateShare(state, extras.range, &share); !status.ok()) return status;
  outcome->evaluation = std::move(share);
  if (absl::Status status = Compute(state, assigned, exchange); !status.ok()) return status;
  const double start = common::SteadySeconds(), blocked = communicator.send_blocked_seconds();
  absl::Status status = Gather(scalars, extras, exchange, outcome);
  CostExchange(start, blocked, communicator);
  if (!status.ok()) return status;
  const absl::StatusOr<double> squares = squares_.Total();
  if (!squares.ok()) return squares.status();
  outcome->gradient = &reduced_;
  outcome->squares = *squares;
  if (status = CheckSample(outcome->record, scalars.step, batches_.CheckedSample(scalars.step)); !status.ok()) {
    return status;
  }
  if (status = CheckWholeBuffers(outcome->record, scalars.step, model_.layout()); !status.ok()) return status;
  if (EvaluationDue(scalars.step)) {
    status = CheckEvaluation(outcome->evaluation, scalars.step, batches_.validation_micro_batches());
  }
  if (!status.ok()) return status;
  status = CheckWhole(outcome->record, spec_.micro_batches());
  return status.ok() ? status : AtStep(scalars.step, status);
}

// Measures the exchange of this step. Its cost travels in the next step's message, because no rank knows how long an
// exchange takes before it has ended.
void StepRunner::CostExchange(double start, double blocked, const comm::Communicator& communicator) {
  cost_.exchange_seconds = common::SteadySeconds() - start;
  cost_.blocked_seconds = communicator.send_blocked_seconds() - blocked;
  metrics_.Update([&](TrainerMetrics& m) { m.reduce_seconds += cost_.exchange_seconds; });
}

absl::Status StepRunner::Compute(const TrainState& state, const std::set<int>& assigned, device::Exchange& exchange) {
  const StateScalars& scalars = state.scalars;
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
  batches_.Expect(scalars.step, missing);
  cost_.data_seconds = cost_.compute_seconds = 0;
  const double lost = model_.LostSeconds();
  absl::Status status;
  for (size_t i = 0; status.ok() && i < missing.size(); ++i) {
    const bool last = i + 1 == missing.size();
    status = ComputeOne(state, missing[i], last, exchange);
  }
  const double start = common::SteadySeconds();
  status.Update(Take(scalars, /*wait=*/true));
  CountComputing(common::SteadySeconds() - start);
  LeaveOutLost(lost);
  if (!status.ok()) {
    begun_ = false;
    return status;
  }
  if (missing.empty()) {
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) Reduce(static_cast<int>(bucket), exchange);
  }
  return absl::OkStatus();
}

// Queues one micro-batch. With the last one, the buckets are reduced as soon as their gradients are complete.
absl::Status StepRunner::ComputeOne(const TrainState& state, int index, bool last, device::Exchange& exchange) {
  const StateScalars& scalars = state.scalars;
  const double start = common::SteadySeconds();
  const absl::StatusOr<int> slot = accumulator_.Open(index);
  if (!slot.ok()) return AtStep(scalars.step, slot.status());
  MicroBatch batch;
  try {
    batch = batches_.Train(scalars.step, index);
  } catch (...) {
    accumulator_.Close(*slot, absl::InternalError("the micro-batch was not read"));
    accumulator_.Queued(*slot);
    throw;
  }
  const double loaded = common::SteadySeconds();
  if (last) readiness_.Reset();
  const auto sink = [this, slot = *slot, last, &exchange](int parameter, std::span<const float> gradient) {
    accumulator_.Add(slot, parameter, gradient);
    if (last) readiness_.Arrived(parameter, [&](int bucket) { Reduce(bucket, exchange); });
  };
  model_.Backward(state.weights, std::move(batch), {.seed = spec_.seed, .step = scalars.step},
                  std::ldexp(1.0f, scalars.loss_scale.log2), sink,
                  [this, slot = *slot, last, &exchange](const absl::StatusOr<LossSum>& loss) {
                    if (last && loss.ok()) readiness_.End([&](int bucket) { Reduce(bucket, exchange); });
                    accumulator_.Close(slot, loss);
                  });
  accumulator_.Queued(*slot);
  const absl::Status status = Take(scalars, /*wait=*/false);
  const double end = common::SteadySeconds();
  cost_.data_seconds += loaded - start;
  metrics_.Update([&](TrainerMetrics& m) { m.data_seconds += loaded - start; });
  CountComputing(end - loaded);
  return status;
}

void StepRunner::CountComputing(double seconds) {
  cost_.compute_seconds += seconds;
  metrics_.Update([&](TrainerMetrics& m) { m.compute_seconds += seconds; });
}

void StepRunner::LeaveOutLost(double before) {
  const double all = model_.LostSeconds();
  cost_.lost_seconds = all - lost_before_;
  if (all > before) CountComputing(-std::min(all - before, cost_.compute_seconds));
}

// Takes the micro-batches that the device has computed, and with `wait` all that were queued.
absl::Status StepRunner::Take(const StateScalars& scalars, bool wait) {
  const absl::Status status = accumulator_.Take(wait);
  const std::vector<int>& held = accumulator_.held();
  if (held.size() != held_.size()) {
    held_.insert(held.begin(), held.end());
    reporter_.Computed(static_cast<int>(held_.size()));
  }
  return status.ok() ? status : AtStep(scalars.step, status);
}

// Buffers that have buckets of their own travel as they are: a counter or a place must not be rounded, and the running
// mean of a buffer would be rounded anew in each step.
bool StepRunner::TravelsInSixteenBits(const GradientBucket& bucket) const {
  const ParameterLayout& layout = model_.layout();
  const bool is_of_buffers =
      layout.late_buffers && layout.parameters[static_cast<size_t>(bucket.first_parameter)].is_buffer();
  return spec_.sixteen_bit && !is_of_buffers;
}

void StepRunner::Reduce(int bucket, device::Exchange& exchange) {
  const GradientBucket& b = buckets_[static_cast<size_t>(bucket)];
  const device::Range sums = accumulator_.Sums(b);
  if (!TravelsInSixteenBits(b)) {
    reductions_.push_back(exchange.AllReduce(sums, reduced_.Part(b.offset, b.count),
                                             spec_.exact ? comm::DataType::kInt64 : comm::DataType::kFloat32));
    return;
  }
  const device::Range wire = WireOf(b);
  device_.Run(device::Queue::kCompute,
              {.name = "to 16 bits",
               .reads = {sums},
               .writes = {wire},
               .launch = [n = static_cast<size_t>(b.count)](const device::Addresses& at, const device::Launch& on) {
                 return on(&RekindleKernels::to_bf16,
                           {.values = at.Read<float>(0), .n = n, .bf16 = at.Write<uint16_t>(0)});
               }});
  reductions_.push_back(exchange.AllReduce(wire, wire, comm::DataType::kBfloat16));
}

device::Range StepRunner::WireOf(const GradientBucket& bucket) const {
  return wire_.Part(bucket.offset * kWireBytes, bucket.count * kWireBytes);
}

// Gathers the squares of each bucket as soon as it is reduced, while the next buckets are still being reduced. Buckets
// are reduced in the order in which they were issued.
absl::Status StepRunner::GatherSquares(const StateScalars& scalars, device::Exchange& exchange) {
  absl::Status status;
  for (size_t bucket = 0; bucket < reductions_.size(); ++bucket) {
    status.Update(exchange.Wait(reductions_[bucket]));
    if (!status.ok()) continue;
    const GradientBucket& b = buckets_[bucket];
    if (TravelsInSixteenBits(b)) {
      device_.Run(device::Queue::kCompute,
                  {.name = "from 16 bits",
                   .reads = {WireOf(b)},
                   .writes = {reduced_.Part(b.offset, b.count)},
                   .launch = [n = static_cast<size_t>(b.count)](const device::Addresses& at, const device::Launch& on) {
                     return on(&RekindleKernels::from_bf16,
                               {.bf16 = at.Read<uint16_t>(0), .n = n, .values = at.Write<float>(0)});
                   }});
    }
    squares_.Add(reduced_, scalars.exponents, b);
  }
  return status;
}

absl::Status StepRunner::Gather(const StateScalars& scalars, const StepExtras& extras, device::Exchange& exchange,
                                StepOutcome* outcome) {
  const comm::Communicator& communicator = exchange.communicator();
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
  const device::Exchange::Ticket gathered = exchange.AllGather(mine.data(), all.data(), mine.size());
  absl::Status reduced = GatherSquares(scalars, exchange);
  reduced.Update(exchange.Wait(gathered));
  reduced.Update(exchange.WaitAll());
  return reduced.ok() ? Combine(all, layout, scalars, outcome) : reduced;
}

// Combines the messages of all ranks, which are in `all`.
absl::Status StepRunner::Combine(const std::vector<uint8_t>& all, const StepMessageLayout& layout,
                                 const StateScalars& scalars, StepOutcome* outcome) const {
  outcome->record = EmptyRecord(scalars.step, scalars.attempt, model_.layout().parameters.size());
  outcome->evaluation = EmptyRecord(scalars.step, 0, 0);
  for (size_t at = 0; at < all.size(); at += layout.bytes()) {
    auto decoded = Decode(std::span(all).subspan(at, layout.bytes()), layout);
    if (!decoded.ok()) return decoded.status();
    absl::Status status = CombineRecords(decoded->record, &outcome->record);
    status.Update(CombineRecords(decoded->evaluation, &outcome->evaluation));
    if (!status.ok()) return status;
    outcome->yield = outcome->yield || decoded->yield;
    outcome->lease_holds = outcome->lease_holds || decoded->lease_holds;
    outcome->yield_with_checkpoint = outcome->yield_with_checkpoint || decoded->yield_with_checkpoint;
    outcome->committed_step = std::max(outcome->committed_step, decoded->committed_step);
    outcome->lost_seconds = std::max(outcome->lost_seconds, decoded->cost.lost_seconds);
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
absl::Status StepRunner::EvaluateShare(const TrainState& state, const StepRange& range, StepRecord* share) {
  const StateScalars& scalars = state.scalars;
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
      const auto loss = model_.Evaluate(state.weights, batches_.Validation(index));
      if (!loss.ok()) return loss.status();
      evaluated_[index] = *loss;
    }
    AddLoss(index, evaluated_[index], count, share);
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Evaluate(const TrainState& state, const StepRange& range, comm::Communicator& communicator,
                                  StepRecord* combined) {
  const StateScalars& scalars = state.scalars;
  StepRecord share;
  absl::Status status = EvaluateShare(state, range, &share);
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
    status = CheckEvaluation(*combined, scalars.step, batches_.validation_micro_batches());
  }
  return status;
}

}  // namespace rekindle::train
