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

// Shows a step to a lever. All figures are reduced exactly, so every rank sees the same ones. For the same reason the
// view has no clock.
struct StepView {
  const TrainSpec& spec;
  const ParameterLayout& layout;
  // `step` is the number of steps applied so far, which is the step of the weights.
  int64_t step = 0;
  // `loss` and `maxima` describe the current batch. They are empty for a batch that is not finite. `loss` is the mean.
  std::optional<double> loss = std::nullopt;
  // `maxima` has one value a parameter, the largest |gradient| of a micro-batch.
  std::span<const float> maxima = {};
  // `validation_loss` belongs to the weights at `step`. It is set when an evaluation was due.
  std::optional<double> validation_loss = std::nullopt;
};

struct StepAdvice {
  enum class Action {
    kGoOn,
    // With kStop the job is done at `step`, and this batch is not applied.
    kStop,
    // With kDiverged the job must not go on from here, and this batch is not applied.
    kDiverged
  };
  Action action = Action::kGoOn;
  // `text` is one sentence for an event. It says what the lever noticed or does, and why. It is empty when there is no
  // event.
  std::string text;
  double steps_saved = 0;
};

struct StepLever {
  const char* name;
  // A lever with `parameters` is switched on by the section of its name in the job's spec, and these are the section's
  // fields. A lever without any is always on.
  std::span<const Parameter> parameters = {};
  bool needs_evaluations = false;
  // `ends_job` says that the lever may end the job, as succeeded, before its last step.
  bool ends_job = false;
  // Looks at a step. What it writes to the state counts only when the step is applied. A step that is redone is shown
  // again.
  StepAdvice (*advise)(const StepView& view, LeverState* state);
};

// Returns all levers, and after them those of the schedules.
std::span<const StepLever* const> StepLevers();

// Returns the value of a field in the lever's section of the job's spec, or its default.
double SettingOf(const std::map<std::string, double>& settings, const Parameter& parameter);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_
