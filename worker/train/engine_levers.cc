// What the engine's levers are shown, and what it tells of them.
#include <utility>

#include "common/log.h"
#include "worker/train/engine.h"
#include "worker/train/schedule.h"

namespace rekindle::train {

void Engine::TellLever(LeverNote note) {
  if (note.text.empty()) return;
  log::Info(note.text, {{"lever", note.lever}, {"step", static_cast<long long>(note.step)}});
  reporter_.Update([&](Report& r) { r.levers[note.lever] = note; }, false);
}

// An evaluation of the weights that the step began with; none was due: nothing.
std::string Engine::ShowSchedule(const StepRecord& evaluation, LeverState* levers) const {
  if (evaluation.micro_batches == 0) return "";
  return ShowEvaluation(options_.spec.schedule, evaluation.step, evaluation.MeanLoss(), levers);
}

}  // namespace rekindle::train
