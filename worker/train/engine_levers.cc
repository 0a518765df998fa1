// What the engine makes of a step before it is applied: whether its scales fitted, what its levers say.
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/exact_scale.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {

// What to redo the attempt with, where the loss scale or a gradient's exact scale did not fit; empty: apply it.
std::optional<StateScalars> Engine::ScaledAnew(const StepRecord& record) const {
  StateScalars scalars = state_.scalars;
  ++scalars.attempt;
  const int micro_batches = options_.spec.micro_batches();
  if (record.NotFinite()) {
    const std::optional<LossScale> lower = scaler_.Overflowed(scalars.loss_scale);
    if (!lower || record.loss_not_finite) return std::nullopt;
    scalars.loss_scale = *lower;
    return scalars;
  }
  if (!options_.spec.exact || Overflowed(scalars.exponents, record.maxima, micro_batches).empty()) return std::nullopt;
  scalars.exponents = RedoExponents(scalars.exponents, record.maxima, micro_batches);
  return scalars;
}

// Every rank is told the same, and so decides the same.
absl::StatusOr<Engine::Verdict> Engine::Judge(const StepOutcome& outcome, LeverState* levers) {
  const StepRecord& record = outcome.record;
  StepView view{.spec = options_.spec, .layout = parts_.model.layout(), .step = state_.scalars.step};
  std::string divergence;
  if (record.NotFinite()) {
    divergence = DescribeNotFinite(record);
  } else if (outcome.gradient.squares && !std::isfinite(*outcome.gradient.squares)) {  // Of finite micro-batches.
    divergence = "step " + std::to_string(record.step + 1) + ": the gradient's norm is not finite";
  } else {
    view.loss = record.MeanLoss();
    view.maxima = record.maxima;
  }
  if (outcome.evaluation.micro_batches > 0) view.validation_loss = outcome.evaluation.MeanLoss();
  for (const StepLever* lever : StepLevers()) {
    const StepAdvice advice = lever->look(view, levers);
    if (advice.text.empty()) continue;
    TellLever({.lever = lever->name,
               .step = view.step,
               .text = advice.text,
               .steps_saved = advice.steps_saved,
               .seconds_saved = advice.steps_saved * times_.step_seconds()});
    if (advice.action == StepAdvice::Action::kStop) stop_reason_ = advice.text;
    if (advice.action == StepAdvice::Action::kDiverged) divergence = advice.text;
  }
  if (!stop_reason_.empty()) return Verdict::kStop;
  return divergence.empty() ? Verdict::kApply : Diverged(divergence, levers);
}

// The batch was not applied yet, so the weights are those before it: skipping it is all that a rollback could do.
absl::StatusOr<Engine::Verdict> Engine::Diverged(const std::string& why, LeverState* levers) {
  constexpr char kSkipped[] = "divergence.skipped";
  const TrainSpec& spec = options_.spec;
  const char* fix = "; lower optimizer.learning_rate, set training.clip_norm, or look at the data of that batch";
  if (spec.on_divergence != TrainSpec::OnDivergence::kSkip) return absl::InvalidArgumentError(why + fix);
  const double skipped = LeverValue(*levers, kSkipped, 0) + 1;
  const auto ordinal = std::to_string(static_cast<int>(skipped)) + " of " + std::to_string(spec.max_skipped);
  if (skipped > spec.max_skipped) {
    return absl::InvalidArgumentError(why + "; training.max_skipped " + std::to_string(spec.max_skipped) +
                                      " batches have been skipped already" + fix);
  }
  (*levers)[kSkipped] = skipped;
  TellLever({.lever = "skipped_batch", .step = state_.scalars.step, .text = why + "; skips the batch, " + ordinal});
  return Verdict::kSkip;
}

void Engine::TellLever(LeverNote note) {
  log::Info(note.text, {{"lever", note.lever}, {"step", static_cast<long long>(note.step)}});
  reporter_.Update([&](Report& r) { r.levers[note.lever] = note; }, false);
}

// Once a generation, after its first step: then the memory that it needs is in use.
void Engine::TellBytesSaved(const Generation& generation) {
  if (generation.rank != 0 || std::exchange(told_saved_, true)) return;
  if (std::optional<LeverNote> note = placement_->Saved(state_)) TellLever(*std::move(note));
  const int others = generation.communicator.world_size() - 1;
  if (!options_.spec.sixteen_bit || others == 0) return;
  // In a ring all ranks together send each element 2 (N - 1) times.
  const double bytes = 2.0 * others * static_cast<double>(parts_.model.layout().total) * sizeof(uint16_t);
  TellLever(
      {.lever = "reduce",
       .step = state_.scalars.step,
       .text = absl::StrFormat("reduce bf16: all ranks together send %.3g MB less a step than with fp32", bytes / 1e6),
       .bytes_saved = bytes});
}

std::string Engine::DescribeNotFinite(const StepRecord& record) const {
  const ParameterLayout& layout = parts_.model.layout();
  const std::string where =
      record.bad_parameter < 0 ? "the loss"
                               : "the gradient of " + layout.parameters[static_cast<size_t>(record.bad_parameter)].name;
  return "step " + std::to_string(record.step + 1) + ", micro-batch " + std::to_string(record.bad_micro_batch) + ": " +
         where + " is not finite";
}

}  // namespace rekindle::train
