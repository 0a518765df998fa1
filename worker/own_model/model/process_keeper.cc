#include "worker/own_model/model/process_keeper.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/time/clock.h"
#include "worker/contract/user_lines.h"

namespace rekindle::own_model {
namespace {

constexpr double kLookSeconds = 0.2;
// A call that takes longer than this holds up the rank. It is well below the shortest deadline between ranks, so that
// they know it in time, and decide by the watch of this rank and not by the deadline.
constexpr double kLateSeconds = 0.5;
// A note that says how long something takes is made anew after this time.
constexpr double kNoteSeconds = 10;

absl::Status FromFailure(const Failed& failed) {
  const bool memory = failed.kind == Failed::Kind::kMemory;
  return train::WithTraceback(
      memory ? absl::ResourceExhaustedError(failed.message) : absl::InvalidArgumentError(failed.message),
      failed.traceback);
}

// Returns the options of a process for which no step waits yet.
ModelProcessOptions OfStart(ModelProcessOptions options) {
  options.nice = common::kStartNice;
  return options;
}

absl::Status AnotherModule(const std::string& difference) {
  return absl::InvalidArgumentError(
      absl::StrCat("the task makes another module each time: ", difference,
                   "; make all that it draws follow from torch's, numpy's or random's seed, and its data from files "
                   "that stay as they are"));
}

}  // namespace

ProcessKeeper::ProcessKeeper(OwnModelParts parts, Description description, std::unique_ptr<ModelProcess> process,
                             GradientSlots slots)
    : parts_(std::move(parts)),
      description_(std::move(description)),
      process_(std::move(process)),
      slots_(std::make_shared<const GradientSlots>(std::move(slots))),
      watch_(parts_.limits) {}

absl::StatusOr<std::unique_ptr<ProcessKeeper>> ProcessKeeper::Create(const OwnModelParts& parts) {
  auto process = ModelProcess::Start(OfStart(parts.process), parts.go_on, parts.note);
  if (!process.ok()) return process.status();
  Description description = (*process)->description();
  // What follows takes memory for all that the process claims to have.
  if (absl::Status admitted = Admit(parts.job, &description); !admitted.ok()) return admitted;
  absl::StatusOr<GradientSlots> slots = GradientSlots::Create(description.layout.total);
  if (!slots.ok()) return slots.status();
  if (absl::Status shared = slots->Share((*process)->channel()); !shared.ok()) return shared;
  return std::unique_ptr<ProcessKeeper>(
      new ProcessKeeper(parts, std::move(description), *std::move(process), *std::move(slots)));
}

absl::Status ProcessKeeper::Ask(const Question& question) {
  if (is_gone_) return absl::UnavailableError("there is no model process");
  const double begun = looked_at_ = noted_at_ = common::SteadySeconds();
  watch_.Begin(begun, question.work.value_or(FrozenWatch::Work::kTraining));
  absl::Status status = question.send();
  bool is_closed = absl::IsUnavailable(status);
  while (status.ok()) {
    if (absl::Status goes_on = CheckGoesOn(begun, question.is_wanted); !goes_on.ok()) return goes_on;
    // It is looked at by the clock, and not only where it is silent, because it may send messages without end.
    if (status = LookAtProcess(); !status.ok()) break;
    // A process that this one has started may hold the socket open after its end, and what it has sent before is read
    // first.
    const bool has_ended = process_->HasEnded();
    const absl::StatusOr<std::optional<Message>> message = process_->channel().Receive(has_ended ? 0 : kLookSeconds);
    if (!message.ok()) {
      status = message.status();
      is_closed = absl::IsUnavailable(status);
    } else if (!message->has_value()) {
      if (has_ended) status = absl::UnavailableError("the model process has ended");
    } else if ((*message)->type == MessageType::kFailed) {
      const absl::StatusOr<Failed> failed = process_->Explain((*message)->text());
      if (failed.ok()) return FromFailure(*failed);
      status = failed.status();
    } else {
      const absl::StatusOr<bool> is_answered = Hear(**message, question);
      if (is_answered.ok() && *is_answered) {
        if (question.work) watch_.End(common::SteadySeconds());
        return absl::OkStatus();
      }
      status = is_answered.status();
    }
  }
  return AfterError(status, is_closed);
}

absl::StatusOr<bool> ProcessKeeper::Hear(const Message& message, const Question& question) {
  if (message.type == MessageType::kNote) return false;
  if (message.type == MessageType::kPong) {
    const absl::StatusOr<Pong> pong = DecodePong(message.body);
    if (!pong.ok()) return pong.status();
    // Slow data is no sign of a frozen process.
    const bool waits = pong->state == Pong::State::kAwaitsData || pong->state == Pong::State::kLoads;
    if (waits) watch_.Heard(common::SteadySeconds());
    watch_.Answered();
    return false;
  }
  const absl::StatusOr<bool> is_answered = question.take(message);
  if (is_answered.ok()) watch_.Heard(common::SteadySeconds());
  return is_answered;
}

absl::Status ProcessKeeper::AfterError(const absl::Status& error, bool is_closed) {
  const bool is_lost = absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error) || absl::IsInternal(error);
  const bool breaks_rules = absl::IsInvalidArgument(error);
  if (!is_lost && !breaks_rules) return error;
  held_up_ = is_gone_ = true;
  const std::string how = process_->End(is_closed ? kClosedSeconds : 0);
  was_killed_ = process_->WasKilled();
  if (breaks_rules) return absl::DataLossError(error.message());
  return absl::UnavailableError(absl::StrCat(error.message(), " (", how, ")"));
}

absl::Status ProcessKeeper::CheckGoesOn(double begun, bool is_wanted) {
  const bool trainer_ends = parts_.go_on && !parts_.go_on();
  if (trainer_ends || (unwanted_ && !is_wanted)) {
    is_gone_ = true;
    (void)process_->End();
    return absl::CancelledError(trainer_ends ? "the trainer ends" : "nobody wants the result any more");
  }
  if (common::SteadySeconds() - begun > kLateSeconds) held_up_ = true;
  return absl::OkStatus();
}

absl::Status ProcessKeeper::LookAtProcess() {
  const double now = common::SteadySeconds();
  if (now - looked_at_ < kLookSeconds) return absl::OkStatus();
  looked_at_ = now;
  if (const std::string frozen = watch_.Look(process_->View(), now); !frozen.empty()) {
    return absl::UnavailableError(absl::StrCat("the model process is frozen: ", frozen));
  }
  if (now - noted_at_ >= kNoteSeconds) {
    noted_at_ = now;
    if (const std::string long_first = watch_.LongFirst(now); !long_first.empty()) Note(long_first);
  }
  if (!watch_.Asks(now)) return absl::OkStatus();
  const absl::Status sent = process_->channel().Send(MessageType::kPing, EncodePing(++pings_));
  // What it has said before it closed its socket is still to be read, and then its end is noticed.
  return absl::IsUnavailable(sent) ? absl::OkStatus() : sent;
}

void ProcessKeeper::Note(const std::string& text) {
  has_noted_ = true;
  if (parts_.note) parts_.note(is_replacing_ ? absl::StrCat("replacing the child: ", text) : text);
}

void ProcessKeeper::EndCall() {
  held_up_ = is_replacing_ = false;
  if (std::exchange(has_noted_, false) && parts_.note) parts_.note("");
}

absl::Status ProcessKeeper::ShareWeights(const float* weights) {
  if (weights == nullptr) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  const std::optional<device::SharedPart> part = parts_.weights->Find(weights);
  if (!part) return absl::FailedPreconditionError("the weights are not in memory that another process may read");
  const std::pair<uint64_t, uint64_t> place = {part->mapping, part->offset};
  if (shared_ == place) return absl::OkStatus();
  const auto bytes = static_cast<uint64_t>(description_.layout.total) * sizeof(float);
  absl::Status sent = process_->channel().Send(MessageType::kBind, EncodeBind(part->offset, bytes), part->descriptor);
  if (sent.ok()) shared_ = place;
  return sent;
}

void ProcessKeeper::Expect(int64_t step, std::span<const Samples> micro_batches) {
  takes_part_ = true;
  expected_step_ = step;
  expected_.assign(micro_batches.begin(), micro_batches.end());
  SendExpected();
}

void ProcessKeeper::Over(int32_t index) {
  std::erase_if(expected_, [&](const Samples& expected) { return expected.index == index; });
}

void ProcessKeeper::SendExpected() {
  if (is_gone_) return;
  // What does not fit into one message is prepared later, or when it is asked for.
  size_t count = 0, bytes = 0;
  while (count < expected_.size()) {
    bytes += sizeof(int64_t) * (expected_[count].numbers.size() + 5);
    if (bytes + kHeaderBytes + 2 * sizeof(int64_t) > kMaxMessageBytes) break;
    ++count;
  }
  // A process that is gone, or has no room for more messages, is noticed and replaced when a micro-batch is asked for.
  const std::vector<uint8_t> body = EncodeExpect(expected_step_, std::span(expected_).first(count));
  process_->channel().Send(MessageType::kExpect, body, /*descriptor=*/-1, /*patience=*/0).IgnoreError();
}

absl::Status ProcessKeeper::Replace(const std::string& why) {
  log::Warning("the model process is replaced", {{"why", why}});
  held_up_ = is_replacing_ = true;
  Note(why);
  return Renew();
}

absl::Status ProcessKeeper::Renew() {
  is_gone_ = true;
  was_killed_ = false;
  (void)process_->End();
  slots_.reset();
  const auto go_on = [this] { return !unwanted_ && (!parts_.go_on || parts_.go_on()); };
  auto started = ModelProcess::Start(takes_part_ ? parts_.process : OfStart(parts_.process), go_on,
                                     [this](const std::string& text) { Note(text); });
  if (!started.ok()) return started.status();
  if (const std::string difference = DifferenceOf(description_, (*started)->description()); !difference.empty()) {
    return AnotherModule(difference);
  }
  absl::StatusOr<GradientSlots> slots = GradientSlots::Create(description_.layout.total);
  if (!slots.ok()) return slots.status();
  if (absl::Status shared = slots->Share((*started)->channel()); !shared.ok()) return shared;
  process_ = *std::move(started);
  shared_.reset();
  watch_.Replace();
  slots_ = std::make_shared<const GradientSlots>(*std::move(slots));
  is_gone_ = false;
  if (!expected_.empty()) SendExpected();
  return absl::OkStatus();
}

}  // namespace rekindle::own_model
