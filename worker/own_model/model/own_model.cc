#include "worker/own_model/model/own_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/text/printable.h"
#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

// What so many processes have died of, one after the other, is given up.
constexpr int kMostDeaths = 3;
// What has failed without a death may be chance, and is tried so many times.
constexpr int kMostFailures = 2;
constexpr uint32_t kInitialSlot = 0;

Samples SamplesOf(const train::MicroBatch& batch) {
  return {.index = batch.index, .first = batch.first, .numbers = batch.samples, .checked = batch.checked};
}

absl::Status DoesNotBelong() {
  return absl::InvalidArgumentError("the model process sent a message that does not belong here");
}

absl::Status AnotherRequest() {
  return absl::InvalidArgumentError("the model process answers another request than the one it got");
}

// Says that all processes that have tried something have died. `kills` of them were killed by somebody else.
absl::Status GivenUp(const std::string& name, const std::string& last, int kills) {
  const std::string what =
      absl::StrCat(name, ": ", kMostDeaths, " model processes ended on it, the last one like this: ", last);
  if (kills < kMostDeaths) return absl::InvalidArgumentError(what);
  return absl::ResourceExhaustedError(absl::StrCat(what, "; this is how the system ends processes for which it has no ",
                                                   "memory, and a smaller micro-batch needs less"));
}

}  // namespace

OwnModel::~OwnModel() { ForgetInitial(); }

absl::StatusOr<std::unique_ptr<OwnModel>> OwnModel::Create(const OwnModelParts& parts) {
  auto keeper = ProcessKeeper::Create(parts);
  if (!keeper.ok()) return keeper.status();
  return std::unique_ptr<OwnModel>(new OwnModel(*std::move(keeper), parts.weights, parts.process.seed));
}

absl::Status OwnModel::BindInitialWeights() {
  if (initial_.empty()) {
    const auto elements = static_cast<size_t>(layout().total);
    const absl::StatusOr<void*> memory = memories_->Make(elements * sizeof(float), "the initial weights");
    if (!memory.ok()) return memory.status();
    const std::span<float> values(static_cast<float*>(*memory), elements);
    if (absl::Status made = Initialize(seed_, values); !made.ok()) {
      memories_->End(*memory);
      return made;
    }
    initial_ = values;
  }
  BindWeights(initial_.data());
  return absl::OkStatus();
}

void OwnModel::ForgetInitial() {
  if (!initial_.empty()) memories_->End(initial_.data());
  initial_ = {};
}

absl::Status OwnModel::Initialize(uint64_t /*seed*/, std::span<float> weights) {
  if (!initial_.empty()) {
    std::copy(initial_.begin(), initial_.end(), weights.begin());
    return absl::OkStatus();
  }
  return Carry({.name = "the initial values",
                .attempt = [&](bool) { return TryInitialize(weights); },
                .renew = keeper_->HasWeights() ? "the initial values are asked for, and it has other ones" : ""});
}

absl::Status OwnModel::TryInitialize(std::span<float> weights) {
  const absl::Status status = keeper_->Ask(
      {.send = [&] { return keeper_->channel().Send(MessageType::kInitialize, EncodeInitialize(kInitialSlot)); },
       .take = [](const Message& message) -> absl::StatusOr<bool> {
         if (message.type != MessageType::kInitialized) return DoesNotBelong();
         return true;
       }});
  if (!status.ok()) return status;
  const std::span<const float> values = keeper_->slots()->Part(kInitialSlot, 0, layout().total);
  std::copy(values.begin(), values.end(), weights.begin());
  return absl::OkStatus();
}

absl::StatusOr<train::LossSum> OwnModel::Backward(const train::MicroBatch& batch, const train::RandomKey& key,
                                                  float loss_scale, const train::GradientSink& sink) {
  Pass pass{.type = MessageType::kCompute,
            .request = {.step = key.step, .loss_scale = loss_scale, .samples = SamplesOf(batch)},
            .delivery = Delivery(layout(), sink, batch.index)};
  if (weights_ != initial_.data()) ForgetInitial();
  pass.request.slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % GradientSlots::kSlots;
  absl::StatusOr<train::LossSum> loss = CarryPass(pass);
  keeper_->Over(batch.index);
  return loss;
}

absl::StatusOr<Hashed> OwnModel::HashSamples(std::span<const int64_t> samples) {
  Hashed hashed;
  const absl::Status status =
      Carry({.name = "the first look at the data", .attempt = [&](bool) { return TryHash(samples, hashed); }});
  if (!status.ok()) return status;
  return hashed;
}

absl::Status OwnModel::TryHash(std::span<const int64_t> samples, Hashed& hashed) {
  const uint64_t request = next_request_++;
  return keeper_->Ask(
      {.send = [&] { return keeper_->channel().Send(MessageType::kHash, EncodeHash(request, samples)); },
       .take = [&](const Message& message) -> absl::StatusOr<bool> {
         if (message.type != MessageType::kHashed) return DoesNotBelong();
         const absl::StatusOr<Hashed> answer = DecodeHashed(message.body);
         if (!answer.ok()) return answer.status();
         if (answer->request != request) return AnotherRequest();
         hashed = *answer;
         return true;
       }});
}

absl::StatusOr<train::LossSum> OwnModel::Evaluate(const train::MicroBatch& batch) {
  Pass pass{.type = MessageType::kEvaluate, .request = {.samples = SamplesOf(batch)}};
  return CarryPass(pass);
}

absl::StatusOr<train::LossSum> OwnModel::CarryPass(Pass& pass) {
  if (pass.request.samples.numbers.size() > kMaxSamples) {
    return absl::InvalidArgumentError(absl::StrCat("a micro-batch of an own model has at most ", kMaxSamples,
                                                   " samples; lower training.micro_batch"));
  }
  const bool trains = pass.type == MessageType::kCompute;
  const absl::Status status =
      Carry({.name = absl::StrCat(trains ? "micro-batch " : "validation micro-batch ", pass.request.samples.index),
             .attempt = [&](bool is_repeated) { return Try(pass, is_repeated); }});
  if (!status.ok()) return status;
  return pass.loss;
}

absl::Status OwnModel::Carry(const Work& work) {
  std::string why = work.renew;
  if (why.empty() && !keeper_->HasProcess()) why = "it was ended";
  bool is_repeated = false;
  int deaths = 0, kills = 0, failures = 0;
  absl::Status status;
  for (;;) {
    const double begun = common::SteadySeconds();
    status = why.empty() ? absl::OkStatus() : keeper_->Replace(why);
    is_repeated = is_repeated || !why.empty();
    if (!why.empty()) lost_seconds_ += common::SteadySeconds() - begun;
    const double tried = common::SteadySeconds();
    if (status.ok()) status = work.attempt(is_repeated);
    if (status.ok() || absl::IsCancelled(status)) break;
    lost_seconds_ += common::SteadySeconds() - tried;
    why = std::string(status.message());
    if (absl::IsUnavailable(status)) {
      kills += keeper_->WasKilled() ? 1 : 0;
      if (++deaths < kMostDeaths) continue;
      status = GivenUp(work.name, why, kills);
      break;
    }
    // A process that breaks the rules does so because of the user's code.
    if (absl::IsDataLoss(status)) status = absl::InvalidArgumentError(why);
    const bool may_be_chance = absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status);
    if (!may_be_chance || ++failures == kMostFailures) break;
  }
  keeper_->EndCall();
  return status;
}

absl::Status OwnModel::Try(Pass& pass, bool is_repeated) {
  pass.request.request = next_request_++;
  if (pass.delivery) pass.delivery->Restart();
  const bool trains = pass.type == MessageType::kCompute;
  absl::Status status = keeper_->Ask({.send =
                                          [&] {
                                            absl::Status shared = keeper_->ShareWeights(weights_);
                                            return shared.ok() ? Request(pass) : shared;
                                          },
                                      .take = [&](const Message& message) { return Take(message, pass); },
                                      .work = trains ? FrozenWatch::Work::kTraining : FrozenWatch::Work::kEvaluation,
                                      .is_wanted = !is_repeated});
  if (!status.ok() || !pass.delivery || pass.delivery->difference().empty()) return status;
  const std::string what =
      absl::StrCat("micro-batch ", pass.request.samples.index, " was computed again, and now has another gradient of ",
                   common::Printable(pass.delivery->difference()));
  if (keeper_->IsExact()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ", so the result would depend on which process died, and when; rekindle validate --twice ",
                     "names the cause; or set training.reduce to fp32, which asks for less"));
  }
  log::Warning(what);
  return absl::AbortedError(what);
}

absl::Status OwnModel::Request(const Pass& pass) {
  Channel& channel = keeper_->channel();
  if (pass.type == MessageType::kCompute) return channel.Send(MessageType::kCompute, EncodeCompute(pass.request));
  return channel.Send(MessageType::kEvaluate, EncodeEvaluate(pass.request.request, pass.request.samples));
}

absl::StatusOr<bool> OwnModel::Take(const Message& message, Pass& pass) {
  const absl::Status other = AnotherRequest();
  switch (message.type) {
    case MessageType::kGradients: {
      const absl::StatusOr<Gradients> gradients = DecodeGradients(message.body, layout().parameters.size());
      if (!gradients.ok()) return gradients.status();
      if (gradients->request != pass.request.request || !pass.delivery) return other;
      const absl::Status taken = pass.delivery->Take(*gradients, keeper_->slots(), pass.request.slot);
      if (!taken.ok()) return taken;
      return false;
    }
    case MessageType::kDone: {
      const absl::StatusOr<Done> done = DecodeDone(message.body);
      if (!done.ok()) return done.status();
      if (done->request != pass.request.request || !pass.delivery) return other;
      if (const absl::Status ended = pass.delivery->End(); !ended.ok()) return ended;
      pass.loss = {.sum = done->loss_sum,
                   .count = done->count,
                   .whole_buffers = done->whole_buffers,
                   .checked_sample = done->checked_sample};
      return true;
    }
    case MessageType::kEvaluated: {
      const absl::StatusOr<Evaluated> evaluated = DecodeEvaluated(message.body);
      if (!evaluated.ok()) return evaluated.status();
      if (evaluated->request != pass.request.request || pass.delivery) return other;
      pass.loss = {.sum = evaluated->loss_sum, .count = evaluated->count};
      return true;
    }
    default:
      return DoesNotBelong();
  }
}

}  // namespace rekindle::own_model
