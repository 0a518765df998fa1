// Multiplies the learning rate by `factor` once more than `patience` evaluations in a row were not better than the best
// one by `min_delta` of its loss. The rate never goes below `final_ratio` of the highest. The rule is that of torch's
// ReduceLROnPlateau with mode min and a relative threshold.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "worker/contract/spec.h"
#include "worker/train/levers/schedule.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr char kName[] = "plateau";
constexpr char kBest[] = "plateau.best", kBad[] = "plateau.bad", kShare[] = "plateau.share";

constexpr Parameter kParameters[] = {
    {.field = "final_ratio", .initial = 0, .low = 0, .high = 1},
    {.field = "factor", .initial = 0.5, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
    {.field = "patience", .initial = 1, .low = 0, .high = 1e6},
    {.field = "min_delta", .initial = 1e-4, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
};

double Share(const ScheduleSpec&, const ScheduleTime&, const LeverState& state) { return LeverValue(state, kShare, 1); }

StepAdvice Advise(const StepView& view, LeverState* state) {
  const ScheduleSpec& schedule = view.spec.schedule;
  if (schedule.kind != kName || !view.validation_loss || view.step < schedule.warmup_steps) return {};
  const double loss = *view.validation_loss;
  const auto best = state->find(kBest);
  if (best == state->end() || loss < best->second * (1 - schedule.min_delta)) {
    (*state)[kBest] = loss;
    (*state)[kBad] = 0;
    return {};
  }
  const double bad = LeverValue(*state, kBad, 0) + 1;
  if (bad <= schedule.patience) {
    (*state)[kBad] = bad;
    return {};
  }
  (*state)[kBad] = 0;
  const double before = LeverValue(*state, kShare, 1);
  const double after = std::max(before * schedule.factor, schedule.final_ratio);
  if (after == before) return {};
  (*state)[kShare] = after;
  return {.text = absl::StrCat("the learning rate goes down to ", after, " of the highest: none of the last ", bad,
                               " evaluations was better than ", best->second, " by ", schedule.min_delta, " of it")};
}

constexpr StepLever kLever{.name = kName, .advise = Advise};

}  // namespace

extern const ScheduleKind kPlateauSchedule;
const ScheduleKind kPlateauSchedule{
    .name = kName, .parameters = kParameters, .share = Share, .needs_evaluations = true, .lever = &kLever};

}  // namespace rekindle::train
