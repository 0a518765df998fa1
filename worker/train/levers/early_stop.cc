// Ends the job when `patience` evaluations in a row were not better than the best by more than min_delta.
#include "absl/strings/str_cat.h"
#include "worker/train/levers/step_lever.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr char kBest[] = "early_stop.best", kBestStep[] = "early_stop.step", kBad[] = "early_stop.bad";

StepAdvice Look(const StepView& view, LeverState* state) {
  const EarlyStopSpec& spec = view.spec.early_stop;
  if (spec.patience == 0 || !view.validation_loss || view.step >= view.spec.steps) return {};
  const auto best = state->find(kBest);
  if (best == state->end() || *view.validation_loss < best->second - spec.min_delta) {
    (*state)[kBest] = *view.validation_loss;
    (*state)[kBestStep] = static_cast<double>(view.step);
    (*state)[kBad] = 0;
    return {};
  }
  const double bad = LeverValue(*state, kBad, 0) + 1;
  (*state)[kBad] = bad;
  if (bad < spec.patience) return {};
  const int64_t saved = view.spec.steps - view.step;
  return {.action = StepAdvice::Action::kStop,
          .text = absl::StrCat("stopped early at step ", view.step, " of ", view.spec.steps, ": ", bad,
                               " evaluations in a row were not better than ", best->second, " of step ",
                               LeverValue(*state, kBestStep, 0), " by ", spec.min_delta, "; saved ", saved, " steps"),
          .steps_saved = static_cast<double>(saved)};
}

}  // namespace

extern const StepLever kEarlyStop;
const StepLever kEarlyStop{.name = "early_stop", .look = Look};

}  // namespace rekindle::train
