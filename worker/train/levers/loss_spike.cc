// Notices a loss far above the losses before it. A spike exceeds the median of these losses by all of the following: 10
// robust standard deviations (1.4826 times the median absolute deviation), 5 % of the median, and 1 % of the loss at
// the beginning of training. The median is taken over the newest 32 losses, and at least 16 are needed. A single
// outlier does not move the median, and while the loss falls, normal losses lie below the median. The third limit is
// there because the median of a nearly perfect model is close to 0, and a rare small error is no spike. On a spike,
// training.on_divergence decides: an event warns of it (warn), the job ends (fail), or the batch is skipped (skip).
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/contract/spec.h"
#include "worker/train/arithmetic/median.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr int kWindow = 32, kLeast = 16;
constexpr double kDeviations = 10, kRobust = 1.4826, kLeastRise = 0.05, kLeastOfFirst = 0.01;
constexpr char kQuietUntil[] = "loss_spike.quiet", kFirst[] = "loss_spike.first";

std::string Slot(int64_t step) { return absl::StrCat("loss_spike.", step % kWindow); }

StepAdvice Advise(const StepView& view, LeverState* state) {
  if (!view.loss) return {};
  const double first = state->try_emplace(kFirst, *view.loss).first->second;
  std::vector<double> losses;
  for (int i = 0; i < kWindow; ++i) {
    if (const auto found = state->find(Slot(i)); found != state->end()) losses.push_back(found->second);
  }
  (*state)[Slot(view.step)] = *view.loss;
  if (losses.size() < kLeast || static_cast<double>(view.step) < LeverValue(*state, kQuietUntil, 0)) return {};
  const double median = Median(losses);
  std::vector<double> distances = losses;
  for (double& distance : distances) distance = std::abs(distance - median);
  const double limit = median + std::max({kDeviations * kRobust * Median(std::move(distances)),
                                          kLeastRise * std::abs(median), kLeastOfFirst * std::abs(first)});
  if (*view.loss <= limit) return {};
  const bool warns = view.spec.on_divergence == TrainSpec::OnDivergence::kWarn;
  if (warns) {
    // After a warning the lever is quiet until the median is taken over newer losses alone, so that one spike makes one
    // event.
    (*state)[kQuietUntil] = static_cast<double>(view.step + kWindow);
  } else {
    // The median replaces the loss of a skipped batch, so later medians do not contain that loss.
    (*state)[Slot(view.step)] = median;
  }
  return {.action = warns ? StepAdvice::Action::kGoOn : StepAdvice::Action::kDiverged,
          .text = absl::StrCat("the loss jumped to ", *view.loss, " at step ", view.step + 1, ", from a median of ",
                               median, "; above ", limit, " is a spike"),
          .steps_saved = 0};
}

}  // namespace

extern const StepLever kLossSpike;
const StepLever kLossSpike{.name = "loss_spike", .advise = Advise};

}  // namespace rekindle::train
