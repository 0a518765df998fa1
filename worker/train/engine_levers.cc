// What the engine shows its levers, and what it makes of their advice.
#include <utility>

#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {

// Before the step is applied; every rank is told the same.
absl::Status Engine::AskLevers(const StepOutcome& outcome, LeverState* levers) {
  StepView view{.spec = options_.spec,
                .layout = parts_.model.layout(),
                .step = state_.scalars.step,
                .loss = outcome.record.MeanLoss(),
                .maxima = outcome.record.maxima,
                .validation_loss = std::nullopt};
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
    if (advice.action == StepAdvice::Action::kDiverged) {
      return absl::InvalidArgumentError(advice.text +
                                        "; lower optimizer.learning_rate or set training.clip_norm, or "
                                        "training.on_divergence to warn");
    }
  }
  return absl::OkStatus();
}

void Engine::TellLever(LeverNote note) {
  log::Info(note.text, {{"lever", note.lever}, {"step", static_cast<long long>(note.step)}});
  reporter_.Update([&](Report& r) { r.levers[note.lever] = note; }, false);
}

absl::Status Engine::DescribeNotFinite(const StepRecord& record) const {
  const ParameterLayout& layout = parts_.model.layout();
  const std::string where =
      record.bad_parameter < 0 ? "the loss"
                               : "the gradient of " + layout.parameters[static_cast<size_t>(record.bad_parameter)].name;
  return absl::InvalidArgumentError("step " + std::to_string(record.step + 1) + ", micro-batch " +
                                    std::to_string(record.bad_micro_batch) + ": " + where +
                                    " is not finite; lower optimizer.learning_rate, set training.clip_norm, or look "
                                    "at the data of that batch");
}

}  // namespace rekindle::train
