#include "worker/train/step/judgement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "worker/train/arithmetic/exact_scale.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

using Verdict = Judgement::Verdict;

// `kSkipped` is the name of the value in the levers' state that counts the skipped batches.
constexpr char kSkipped[] = "divergence.skipped";

// Returns whether a gradient of the batch is not finite although its losses are. Such a batch is skipped only when no
// lower loss scale is left to try.
bool HasBadGradient(const StepRecord& record) { return record.NotFinite() && !record.loss_not_finite; }

// Counts the step in `missed` for each parameter without a gradient. A buffer has no gradient that it could miss.
void CountMissed(const std::vector<uint8_t>& has_gradient, const ParameterLayout& layout,
                 std::vector<int64_t>* missed) {
  for (size_t p = 0; p < has_gradient.size(); ++p) {
    if (has_gradient[p] != 0 || layout.parameters[p].is_buffer()) continue;
    missed->resize(has_gradient.size());
    ++(*missed)[p];
  }
}

}  // namespace

StepJudge::StepJudge(const TrainSpec& spec, const ParameterLayout& layout)
    : spec_(spec), layout_(layout), scaler_(spec.compute, int64_t{spec.micro_batch} * std::max(1, spec.context)) {}

absl::Status StepJudge::Judge(const StateScalars& scalars, const StepOutcome& outcome, double step_seconds,
                              Judgement* judgement) const {
  if (std::optional<StateScalars> redo = ScaledAnew(scalars, outcome.record)) {
    judgement->verdict = Verdict::kRedo;
    judgement->scalars = *std::move(redo);
    return absl::OkStatus();
  }
  judgement->scalars = scalars;
  LeverState& levers = judgement->scalars.levers;
  StepView view{.spec = spec_, .layout = layout_, .step = scalars.step};
  std::string divergence = Divergence(outcome);
  if (divergence.empty()) {
    view.loss = outcome.record.MeanLoss();
    view.maxima = outcome.record.maxima;
    view.has_gradient = outcome.record.has_gradient;
    view.missed = scalars.missed;
  }
  if (outcome.evaluation.micro_batches > 0) view.validation_loss = outcome.evaluation.MeanLoss();
  for (const StepLever* lever : StepLevers()) {
    const StepAdvice advice = lever->advise(view, &levers);
    if (advice.text.empty()) continue;
    judgement->notes.push_back({.lever = lever->name,
                                .step = view.step,
                                .text = advice.text,
                                .steps_saved = advice.steps_saved,
                                .seconds_saved = advice.steps_saved * step_seconds});
    if (advice.action == StepAdvice::Action::kStop) judgement->stop_reason = advice.text;
    if (advice.action == StepAdvice::Action::kDiverged) divergence = advice.text;
  }
  if (!judgement->stop_reason.empty()) {
    judgement->verdict = Verdict::kStop;
    return absl::OkStatus();
  }
  if (!divergence.empty()) {
    if (absl::Status status = SkipDiverged(divergence, scalars.step, judgement); !status.ok()) return status;
  }
  Advance(scalars, outcome.record, judgement);
  return absl::OkStatus();
}

// Returns the scalars for another attempt of the step if the loss scale or the exact scale of a gradient did not fit.
// Returns nothing if the scales fitted or another scale would not help.
std::optional<StateScalars> StepJudge::ScaledAnew(const StateScalars& scalars, const StepRecord& record) const {
  StateScalars redo = scalars;
  ++redo.attempt;
  const int micro_batches = spec_.micro_batches();
  if (record.NotFinite()) {
    const std::optional<LossScale> lower = scaler_.Overflowed(scalars.loss_scale);
    if (!lower || record.loss_not_finite) return std::nullopt;
    redo.loss_scale = *lower;
    return redo;
  }
  if (!spec_.exact || Overflowed(scalars.exponents, record.maxima, micro_batches).empty()) return std::nullopt;
  redo.exponents = RedoExponents(scalars.exponents, record.maxima, micro_batches);
  return redo;
}

// Returns a sentence that says what in the step is not finite, or an empty text.
std::string StepJudge::Divergence(const StepOutcome& outcome) const {
  const StepRecord& record = outcome.record;
  const std::string step = "step " + std::to_string(record.step + 1);
  if (record.NotFinite()) {
    const std::string where =
        record.bad_parameter < 0
            ? "the loss"
            : "the gradient of " + layout_.parameters[static_cast<size_t>(record.bad_parameter)].name;
    return step + ", micro-batch " + std::to_string(record.bad_micro_batch) + ": " + where + " is not finite";
  }
  // If all micro-batches are finite, the norm of their gradient can still be infinite.
  if (!std::isfinite(outcome.squares)) {
    return step + ": the gradient's norm is not finite";
  }
  return "";
}

// Skips a diverged batch if the job allows that. The batch was not applied, so the weights are those before it, and
// skipping does all that a rollback could do.
absl::Status StepJudge::SkipDiverged(const std::string& why, int64_t step, Judgement* judgement) const {
  const char* fix = "; lower optimizer.learning_rate, set training.clip_norm, or look at the data of that batch";
  if (spec_.on_divergence != TrainSpec::OnDivergence::kSkip) return absl::InvalidArgumentError(why + fix);
  LeverState& levers = judgement->scalars.levers;
  const double skipped = LeverValue(levers, kSkipped, 0) + 1;
  const auto ordinal = std::to_string(static_cast<int>(skipped)) + " of " + std::to_string(spec_.max_skipped);
  if (skipped > spec_.max_skipped) {
    return absl::InvalidArgumentError(why + "; training.max_skipped " + std::to_string(spec_.max_skipped) +
                                      " batches have been skipped already" + fix);
  }
  levers[kSkipped] = skipped;
  judgement->notes.push_back({.lever = "skipped_batch", .step = step, .text = why + "; skips the batch, " + ordinal});
  judgement->verdict = Verdict::kSkip;
  return absl::OkStatus();
}

void StepJudge::Advance(const StateScalars& scalars, const StepRecord& record, Judgement* judgement) const {
  StateScalars& next = judgement->scalars;
  if (judgement->verdict == Verdict::kApply) {
    if (spec_.exact) next.exponents = NextExponents(scalars.exponents, record.maxima, spec_.micro_batches());
    next.loss_scale = scaler_.Applied(scalars.loss_scale);
    CountMissed(record.has_gradient, layout_, &next.missed);
  } else if (HasBadGradient(record)) {
    // The attempts to compute the batch that is skipped have lowered the loss scale in vain, so the scale goes back to
    // the initial one.
    next.loss_scale.log2 = scaler_.Initial().log2;
  }
  ++next.step;
  next.attempt = 0;
  next.cursor += spec_.global_batch;
}

}  // namespace rekindle::train
