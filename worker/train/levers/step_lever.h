// Declares the interface of a lever that looks at what all ranks agreed on in a step, before the step is applied. Each
// lever is one file and one line in step_levers.cc.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "worker/contract/parameter.h"
#include "worker/train/levers/lever_state.h"

namespace rekindle::train {

struct ParameterLayout;
struct TrainSpec;

// Shows a step to a lever. All figures are reduced exactly, so every rank sees the same ones. StepView has no clock,
// because the clocks of ranks differ.
struct StepView {
  const TrainSpec& spec;
  const ParameterLayout& layout;
  // `step` is the number of steps that are applied, so the weights are those after `step` steps.
  int64_t step = 0;
  // `loss` is the mean loss of the current batch. `loss` and `maxima` are empty for a batch that is not finite.
  std::optional<double> loss = std::nullopt;
  // `maxima` has one value a parameter, the largest |gradient| of any micro-batch of the current batch.
  std::span<const float> maxima = {};
  // `has_gradient` says for each parameter whether any micro-batch of the current batch gave it a gradient, which may
  // be 0. `missed` counts the earlier steps in which none did. It is empty if there were none such for any parameter.
  std::span<const uint8_t> has_gradient = {};
  std::span<const int64_t> missed = {};
  // `validation_loss` is the validation loss of the weights after `step` steps. It is set when an evaluation was due.
  std::optional<double> validation_loss = std::nullopt;
};

struct StepAdvice {
  enum class Action {
    kGoOn,
    // With kStop the job is done at the present step, and the current batch is not applied.
    kStop,
    // With kDiverged the job must not go on from the present step, and the current batch is not applied.
    kDiverged
  };
  Action action = Action::kGoOn;
  // `text` is one sentence that says what the lever noticed or does, and why. It becomes an event of the job. If it is
  // empty, there is no event.
  std::string text;
  double steps_saved = 0;
};

struct StepLever {
  const char* name;
  // A lever with `parameters` is switched on by the section with its name in the job's spec, and `parameters` declares
  // the fields of the section. A lever without any is always on.
  std::span<const Parameter> parameters = {};
  bool needs_evaluations = false;
  // `ends_job` says that the lever may end the job, as succeeded, before its last step.
  bool ends_job = false;
  // Looks at a step and returns the lever's advice. What the lever writes to the state counts only when the step is
  // applied. A step that is redone is shown to the lever again.
  StepAdvice (*advise)(const StepView& view, LeverState* state);
};

// Returns the levers that step_levers.cc lists, and after them those that belong to a schedule (ScheduleKind::lever).
std::span<const StepLever* const> StepLevers();

// Returns the value of a field in the lever's section of the job's spec, or its default.
double SettingOf(const std::map<std::string, double>& settings, const Parameter& parameter);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_
