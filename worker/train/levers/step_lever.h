// A lever that looks at what all ranks agreed on in a step, before it is applied: one file, one line in step_levers.cc.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "worker/train/levers/lever_state.h"

namespace rekindle::train {

struct ParameterLayout;
struct TrainSpec;

// Reduced exactly, so every rank is shown the same. There is no clock here.
struct StepView {
  const TrainSpec& spec;
  const ParameterLayout& layout;
  int64_t step = 0;  // Applied so far: the weights' step.
  // Of the batch under way; nothing of one that is not finite.
  std::optional<double> loss = std::nullopt;             // The mean.
  std::span<const float> maxima = {};                    // By parameter: largest |gradient| of a micro-batch.
  std::optional<double> validation_loss = std::nullopt;  // Of the weights at `step`, when it was due.
};

struct StepAdvice {
  enum class Action {
    kGoOn,
    kStop,     // The job is done at `step`; this batch is not applied.
    kDiverged  // It must not go on from here: this batch is not applied.
  };
  Action action = Action::kGoOn;
  std::string text;  // One sentence for an event: what it noticed or does, and why. Empty: nothing to tell.
  double steps_saved = 0;
};

struct StepLever {
  const char* name;
  // What it writes to the state counts only when the step is applied; a step that is redone is shown again.
  StepAdvice (*look)(const StepView& view, LeverState* state);
};

std::span<const StepLever* const> StepLevers();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_STEP_LEVER_H_
