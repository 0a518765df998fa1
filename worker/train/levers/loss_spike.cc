// Notices a loss far above those before: more than 10 robust standard deviations (1.4826 times the median absolute
// deviation) and 5 % above the median of the newest 32, which at least 16 must be. A median does not follow a single
// outlier, and a falling loss lies below it. By training.on_divergence it is told (warn) or ends the job (fail).
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/train/levers/step_lever.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr int kWindow = 32, kLeast = 16;
constexpr double kDeviations = 10, kRobust = 1.4826, kLeastRise = 0.05;
constexpr char kQuietUntil[] = "loss_spike.quiet";

std::string Slot(int64_t step) { return absl::StrCat("loss_spike.", step % kWindow); }

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StepAdvice Look(const StepView& view, LeverState* state) {
  std::vector<double> losses;
  for (int i = 0; i < kWindow; ++i) {
    if (const auto found = state->find(Slot(i)); found != state->end()) losses.push_back(found->second);
  }
  (*state)[Slot(view.step)] = view.loss;
  if (losses.size() < kLeast || static_cast<double>(view.step) < LeverValue(*state, kQuietUntil, 0)) return {};
  const double median = Median(losses);
  for (double& loss : losses) loss = std::abs(loss - median);
  const double limit =
      std::max(median + kDeviations * kRobust * Median(std::move(losses)), median + kLeastRise * std::abs(median));
  if (view.loss <= limit) return {};
  (*state)[kQuietUntil] = static_cast<double>(view.step + kWindow);  // One event a spike.
  const bool fails = view.spec.on_divergence == TrainSpec::OnDivergence::kFail;
  return {.action = fails ? StepAdvice::Action::kDiverged : StepAdvice::Action::kGoOn,
          .text = absl::StrCat("the loss jumped to ", view.loss, " at step ", view.step + 1, ", from a median of ",
                               median, "; above ", limit, " is a spike"),
          .steps_saved = 0};
}

}  // namespace

extern const StepLever kLossSpike;
const StepLever kLossSpike{.name = "loss_spike", .look = Look};

}  // namespace rekindle::train
