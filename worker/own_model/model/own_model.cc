#include "worker/own_model/model/own_model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

constexpr double kLookSeconds = 0.2;
constexpr double kPingSeconds = 1;
// A micro-batch on which so many processes have died one after the other is given up.
constexpr int kMostDeaths = 3;

// Says of an error of a pass whether the same micro-batch is tried again in a fresh process.
bool IsWorthAnother(const absl::Status& error, int failures) {
  const bool may_be_chance = absl::IsInvalidArgument(error) || absl::IsResourceExhausted(error);
  return may_be_chance && failures == 1;
}

absl::Status FromFailure(const Failed& failed) {
  const std::string text = absl::StrCat(failed.message, failed.traceback.empty() ? "" : "\n", failed.traceback);
  return failed.kind == Failed::Kind::kMemory ? absl::ResourceExhaustedError(text) : absl::InvalidArgumentError(text);
}

Samples SamplesOf(const train::MicroBatch& batch) {
  return {.index = batch.index, .first = batch.first, .numbers = batch.samples};
}

}  // namespace

OwnModel::OwnModel(OwnModelParts parts, std::unique_ptr<ModelProcess> process, GradientSlots slots)
    : parts_(std::move(parts)),
      description_(process->description()),
      process_(std::move(process)),
      slots_(std::move(slots)),
      watch_(parts_.limits) {}

absl::StatusOr<std::unique_ptr<OwnModel>> OwnModel::Create(OwnModelParts parts) {
  auto process = ModelProcess::Start(parts.process, parts.go_on, parts.note);
  if (!process.ok()) return process.status();
  absl::StatusOr<GradientSlots> slots = GradientSlots::Create((*process)->description().layout.total);
  if (!slots.ok()) return slots.status();
  const absl::Status sent = (*process)->channel().Send(
      MessageType::kSlots, EncodeSlots(GradientSlots::kSlots, slots->slot_bytes()), slots->descriptor());
  if (!sent.ok()) return sent;
  return std::unique_ptr<OwnModel>(new OwnModel(std::move(parts), *std::move(process), *std::move(slots)));
}

void OwnModel::Initialize(uint64_t /*seed*/, std::span<float> weights) const {
  const double until = common::SteadySeconds() + parts_.process.start_seconds;
  absl::Status status = process_->channel().Send(MessageType::kInitialize, EncodeInitialize(0));
  while (status.ok()) {
    if (parts_.go_on && !parts_.go_on()) {
      status = absl::CancelledError("the trainer ends");
      break;
    }
    if (common::SteadySeconds() > until) {
      status = absl::DeadlineExceededError("the model process does not answer");
      break;
    }
    // What a process has sent before its end is read first.
    const bool has_ended = process_->HasEnded();
    const absl::StatusOr<std::optional<Message>> message = process_->channel().Receive(has_ended ? 0 : kLookSeconds);
    status = message.status();
    if (!status.ok()) break;
    if (!message->has_value()) {
      if (has_ended) status = absl::UnavailableError("the model process has ended");
    } else if ((*message)->type == MessageType::kFailed) {
      const absl::StatusOr<Failed> failed = DecodeFailed((*message)->text());
      status = failed.ok() ? FromFailure(*failed) : failed.status();
    } else if ((*message)->type == MessageType::kInitialized) {
      const std::span<const float> values = slots_.Part(0, 0, description_.layout.total);
      std::copy(values.begin(), values.end(), weights.begin());
      return;
    }
  }
  // The engine turns what a model throws into an error of the job.
  throw std::runtime_error(absl::StrCat("the initial weights are not there: ", std::string(status.message())));
}

void OwnModel::Expect(int64_t step, std::span<const Samples> micro_batches) {
  // What does not fit into one message is prepared later, or when it is asked for.
  size_t count = 0, bytes = 0;
  while (count < micro_batches.size()) {
    bytes += sizeof(int64_t) * (micro_batches[count].numbers.size() + 3);
    if (bytes + kHeaderBytes + 2 * sizeof(int64_t) > kMaxMessageBytes) break;
    ++count;
  }
  // A process that is gone is noticed, and replaced, when a micro-batch is asked for.
  process_->channel().Send(MessageType::kExpect, EncodeExpect(step, micro_batches.first(count))).IgnoreError();
}

absl::StatusOr<train::LossSum> OwnModel::Backward(const train::MicroBatch& batch, const train::RandomKey& key,
                                                  float loss_scale, const train::GradientSink& sink) {
  Pass pass{.type = MessageType::kCompute,
            .request = {.step = key.step, .loss_scale = loss_scale, .samples = SamplesOf(batch)},
            .sink = &sink,
            .delivered = std::vector<bool>(description_.layout.parameters.size())};
  pass.request.slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % GradientSlots::kSlots;
  return Carry(pass);
}

absl::StatusOr<train::LossSum> OwnModel::Evaluate(const train::MicroBatch& batch) {
  Pass pass{.type = MessageType::kEvaluate, .request = {.samples = SamplesOf(batch)}};
  return Carry(pass);
}

absl::StatusOr<train::LossSum> OwnModel::Carry(Pass& pass) {
  if (pass.request.samples.numbers.size() > kMaxSamples) {
    return absl::InvalidArgumentError(absl::StrCat("a micro-batch of an own model has at most ", kMaxSamples,
                                                   " samples; lower training.micro_batch"));
  }
  int deaths = 0, failures = 0;
  for (;;) {
    absl::StatusOr<train::LossSum> loss = Try(pass);
    if (loss.ok() || absl::IsCancelled(loss.status())) return loss;
    absl::Status error = loss.status();
    if (!absl::IsUnavailable(error)) {
      // A pass that has failed may have handed over a part of a gradient, which the engine cannot take back.
      const bool has_delivered = std::find(pass.delivered.begin(), pass.delivered.end(), true) != pass.delivered.end();
      if (has_delivered || !IsWorthAnother(error, ++failures)) return loss;
      error = Replace(std::string(error.message()));
    }
    while (absl::IsUnavailable(error)) {
      if (++deaths >= kMostDeaths) {
        return absl::InvalidArgumentError(
            absl::StrCat("micro-batch ", pass.request.samples.index, ": ", deaths,
                         " model processes ended on it, the last one like this: ", error.message()));
      }
      error = Replace(std::string(error.message()));
    }
    if (!error.ok()) return error;
  }
}

absl::StatusOr<train::LossSum> OwnModel::Try(Pass& pass) {
  pass.request.request = next_request_++;
  watch_.Begin(common::SteadySeconds());
  absl::Status status = ShareWeights();
  if (status.ok()) status = Request(pass);
  bool is_closed = absl::IsUnavailable(status);
  while (status.ok()) {
    if (parts_.go_on && !parts_.go_on()) return absl::CancelledError("the trainer ends");
    // A process that this one has started may hold the socket open after its end, and what it has sent before is read
    // first.
    const bool has_ended = process_->HasEnded();
    const absl::StatusOr<std::optional<Message>> message = process_->channel().Receive(has_ended ? 0 : kLookSeconds);
    if (!message.ok()) {
      status = message.status();
      is_closed = absl::IsUnavailable(status);
    } else if (!message->has_value()) {
      status = has_ended ? absl::UnavailableError("the model process has ended") : LookAtProcess();
    } else {
      const absl::StatusOr<std::optional<train::LossSum>> loss = Take(**message, pass);
      if (loss.ok() && loss->has_value()) {
        watch_.End(common::SteadySeconds());
        return **loss;
      }
      status = loss.status();
    }
  }
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsInternal(status)) {
    const double patience = is_closed ? kClosedSeconds : 0;
    return absl::UnavailableError(absl::StrCat(status.message(), " (", process_->End(patience), ")"));
  }
  return status;
}

absl::Status OwnModel::Request(const Pass& pass) {
  Channel& channel = process_->channel();
  if (pass.type == MessageType::kCompute) return channel.Send(MessageType::kCompute, EncodeCompute(pass.request));
  return channel.Send(MessageType::kEvaluate, EncodeEvaluate(pass.request.request, pass.request.samples));
}

absl::StatusOr<std::optional<train::LossSum>> OwnModel::Take(const Message& message, Pass& pass) {
  const auto other = absl::InvalidArgumentError("the model process answers another request than the one it got");
  switch (message.type) {
    case MessageType::kGradients: {
      const absl::StatusOr<Gradients> gradients = DecodeGradients(message.body, pass.delivered.size());
      if (!gradients.ok()) return gradients.status();
      if (gradients->request != pass.request.request) return other;
      watch_.Heard(common::SteadySeconds());
      if (absl::Status delivered = Deliver(*gradients, pass); !delivered.ok()) return delivered;
      return std::nullopt;
    }
    case MessageType::kDone: {
      const absl::StatusOr<Done> done = DecodeDone(message.body);
      if (!done.ok()) return done.status();
      if (done->request != pass.request.request || pass.type != MessageType::kCompute) return other;
      return train::LossSum{.sum = done->loss_sum, .count = done->count, .whole_buffers = done->whole_buffers};
    }
    case MessageType::kEvaluated: {
      const absl::StatusOr<Evaluated> evaluated = DecodeEvaluated(message.body);
      if (!evaluated.ok()) return evaluated.status();
      if (evaluated->request != pass.request.request || pass.type != MessageType::kEvaluate) return other;
      return train::LossSum{.sum = evaluated->loss_sum, .count = evaluated->count};
    }
    case MessageType::kPong: {
      const absl::StatusOr<Pong> pong = DecodePong(message.body);
      if (!pong.ok()) return pong.status();
      // Slow data is no sign of a frozen process.
      const bool waits = pong->state == Pong::State::kAwaitsData || pong->state == Pong::State::kLoads;
      if (waits) watch_.Heard(common::SteadySeconds());
      return std::nullopt;
    }
    case MessageType::kFailed: {
      const absl::StatusOr<Failed> failed = DecodeFailed(message.text());
      return failed.ok() ? FromFailure(*failed) : failed.status();
    }
    case MessageType::kNote:
      return std::nullopt;
    default:
      return absl::InvalidArgumentError("the model process sent a message that does not belong here");
  }
}

absl::Status OwnModel::Deliver(const Gradients& gradients, Pass& pass) {
  if (pass.sink == nullptr) return absl::InvalidArgumentError("the model process sent gradients of an evaluation");
  for (const uint32_t parameter : gradients.parameters) {
    // A process before this one may have delivered it. Both have computed the same.
    if (pass.delivered[parameter]) continue;
    pass.delivered[parameter] = true;
    const train::ParameterInfo& info = description_.layout.parameters[parameter];
    const bool is_dropped =
        info.is_buffer() && (info.rule == train::BufferRule::kFrozen ||
                             (info.rule == train::BufferRule::kFirst && pass.request.samples.index != 0));
    if (is_dropped) continue;
    (*pass.sink)(static_cast<int>(parameter), slots_.Part(pass.request.slot, info.offset, info.size));
  }
  return absl::OkStatus();
}

absl::Status OwnModel::LookAtProcess() {
  const double now = common::SteadySeconds();
  if (const std::string frozen = watch_.Look(process_->View(), now); !frozen.empty()) {
    return absl::UnavailableError(absl::StrCat("the model process is frozen: ", frozen));
  }
  if (now - pinged_at_ < kPingSeconds) return absl::OkStatus();
  pinged_at_ = now;
  return process_->channel().Send(MessageType::kPing, EncodePing(next_request_));
}

absl::Status OwnModel::ShareWeights() {
  if (weights_ == nullptr) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  const std::optional<device::SharedPart> part = parts_.weights->Find(weights_);
  if (!part) return absl::FailedPreconditionError("the weights are not in memory that another process may read");
  const std::pair<uint64_t, uint64_t> place = {part->mapping, part->offset};
  if (shared_ == place) return absl::OkStatus();
  const auto bytes = static_cast<uint64_t>(description_.layout.total) * sizeof(float);
  absl::Status sent = process_->channel().Send(MessageType::kBind, EncodeBind(part->offset, bytes), part->descriptor);
  if (sent.ok()) shared_ = place;
  return sent;
}

absl::Status OwnModel::Replace(const std::string& why) {
  log::Warning("the model process is replaced", {{"why", why}});
  if (parts_.note) parts_.note(absl::StrCat("replacing the model process: ", why));
  (void)process_->End();
  auto started = ModelProcess::Start(parts_.process, parts_.go_on, parts_.note);
  if (!started.ok()) return started.status();
  if ((*started)->description().digest != description_.digest) {
    return absl::InvalidArgumentError(
        absl::StrCat("the task makes another module each time: its weights have the digest ",
                     (*started)->description().digest, ", before it was ", description_.digest,
                     "; make all that it draws follow from torch's, numpy's or random's seed"));
  }
  process_ = *std::move(started);
  shared_.reset();
  watch_.Replace();
  return process_->channel().Send(MessageType::kSlots, EncodeSlots(GradientSlots::kSlots, slots_.slot_bytes()),
                                  slots_.descriptor());
}

}  // namespace rekindle::own_model
