// Ends the job when the validation loss of `patience` evaluations in a row was not better than the best by more than
// `min_delta`.
#include "absl/strings/str_cat.h"
#include "worker/contract/spec.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr char kName[] = "early_stop";
constexpr char kBest[] = "early_stop.best", kBestStep[] = "early_stop.step", kBad[] = "early_stop.bad";

constexpr Parameter kPatience{.field = "patience", .initial = 3, .low = 1, .high = 1e6};
// The field `min_delta` of the lever early_stop is a loss in nats a token.
constexpr Parameter kMinDelta{.field = "min_delta", .initial = 0, .low = 0, .high = 1e6};
constexpr Parameter kParameters[] = {kPatience, kMinDelta};

StepAdvice Advise(const StepView& view, LeverState* state) {
  const auto settings = view.spec.levers.find(kName);
  if (settings == view.spec.levers.end() || !view.validation_loss || view.step >= view.spec.steps) return {};
  const double patience = SettingOf(settings->second, kPatience), min_delta = SettingOf(settings->second, kMinDelta);
  const auto best = state->find(kBest);
  if (best == state->end() || *view.validation_loss < best->second - min_delta) {
    (*state)[kBest] = *view.validation_loss;
    (*state)[kBestStep] = static_cast<double>(view.step);
    (*state)[kBad] = 0;
    return {};
  }
  const double bad = LeverValue(*state, kBad, 0) + 1;
  (*state)[kBad] = bad;
  if (bad < patience) return {};
  const int64_t saved = view.spec.steps - view.step;
  return {.action = StepAdvice::Action::kStop,
          .text = absl::StrCat("stopped early at step ", view.step, " of ", view.spec.steps, ": ", bad,
                               " evaluations in a row were not better than ", best->second, " of step ",
                               LeverValue(*state, kBestStep, 0), " by ", min_delta, "; saved ", saved, " steps"),
          .steps_saved = static_cast<double>(saved)};
}

}  // namespace

extern const StepLever kEarlyStop;
const StepLever kEarlyStop{
    .name = kName, .parameters = kParameters, .needs_evaluations = true, .ends_job = true, .advise = Advise};

}  // namespace rekindle::train
