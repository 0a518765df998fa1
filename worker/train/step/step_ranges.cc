#include "worker/train/step/step_ranges.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/agreed/shares.h"
#include "worker/train/arithmetic/median.h"

namespace rekindle::train {
namespace {

// Each rank's times of the newest `kWindow` steps are remembered.
constexpr size_t kWindow = 32;
// At least `kLeast` steps of every rank must be measured before the measurements decide the ranges.
constexpr size_t kLeast = 4;
// If the newest `kLeast` steps of a rank are all slower, or all faster, by the factor `kChange` than those before, the
// rank's speed has changed. Then its earlier measurements no longer count.
constexpr double kChange = 1.4;
// Ranges are changed only if this saves at least `kLeastGain` of the slowest rank's seconds a step and at least
// `kLeastSeconds`. A smaller gain is noise, or not worth an event.
constexpr double kLeastGain = 0.1;
constexpr double kLeastSeconds = 1e-3;
// Ranges are changed only if they become better even when the medians are off by `kDeviations` standard errors.
constexpr double kDeviations = 2;
// The relative deviation of one step's time is assumed to be at least `kLeastNoise`, because a few steps can lie close
// together by chance.
constexpr double kLeastNoise = 0.1;
// `kRobust` turns the median absolute deviation of a normal distribution into its standard deviation.
constexpr double kRobust = 1.4826;
// `kMedianError` is the standard error of the median divided by that of the mean.
constexpr double kMedianError = 1.25;

double Slowest(const std::vector<int>& sizes, const std::vector<double>& seconds) {
  double slowest = 0;
  for (size_t i = 0; i < sizes.size(); ++i) slowest = std::max(slowest, sizes[i] * seconds[i]);
  return slowest;
}

std::vector<StepRange> RangesOf(const std::vector<int>& sizes) {
  std::vector<StepRange> ranges;
  int begin = 0;
  for (const int size : sizes) {
    ranges.push_back({begin, begin + size});
    begin += size;
  }
  return ranges;
}

}  // namespace

StepRanges::StepRanges(std::vector<StepRange> ranges)
    : ranges_(std::move(ranges)),
      equal_(common::CutShares(std::vector<double>(ranges_.size(), 1.0), ranges_.back().end)),
      measured_(ranges_.size()) {}

std::optional<StepRanges::Recut> StepRanges::Add(std::span<const StepCost> costs) {
  for (size_t i = 0; i < measured_.size(); ++i) Measure(measured_[i], costs[i]);
  const std::vector<double> seconds = Seconds();
  if (seconds.empty()) return std::nullopt;
  const std::vector<int> sizes = common::CutShares(seconds, ranges_.back().end);
  Recut recut;
  if (!Pays(sizes, seconds, &recut)) return std::nullopt;
  ranges_ = RangesOf(sizes);
  return recut;
}

double StepRanges::seconds(int rank) const {
  const std::deque<double>& measured = measured_[static_cast<size_t>(rank)];
  return measured.size() < kLeast ? 0 : Median({measured.begin(), measured.end()});
}

double StepRanges::seconds_saved() const {
  const std::vector<double> seconds = Seconds();
  return seconds.empty() ? 0 : Slowest(equal_, seconds) - Slowest(Sizes(), seconds);
}

std::vector<double> StepRanges::Seconds() const {
  std::vector<double> seconds;
  for (size_t i = 0; i < measured_.size(); ++i) {
    seconds.push_back(this->seconds(static_cast<int>(i)));
    if (seconds.back() <= 0) return {};
  }
  return seconds;
}

void StepRanges::Measure(std::deque<double>& newest, const StepCost& cost) {
  const double seconds = cost.data_seconds + cost.compute_seconds;
  if (cost.micro_batches == 0 || seconds <= 0) return;
  newest.push_back(seconds / cost.micro_batches);
  if (newest.size() > kWindow) newest.pop_front();
  if (newest.size() <= kLeast) return;
  const auto run = newest.end() - kLeast;
  const double before = Median({newest.begin(), run});
  const auto [least, most] = std::minmax_element(run, newest.end());
  if (*least > before * kChange || *most < before / kChange) newest.erase(newest.begin(), run);
}

std::vector<int> StepRanges::Sizes() const {
  std::vector<int> sizes;
  for (const StepRange& range : ranges_) sizes.push_back(range.size());
  return sizes;
}

// Returns the standard errors of the medians. The noise is estimated over all ranks, relative to each rank's own speed,
// because a few steps of one rank may lie close together by chance.
std::vector<double> StepRanges::Uncertainty(const std::vector<double>& seconds) const {
  std::vector<double> distances;
  for (size_t i = 0; i < measured_.size(); ++i) {
    for (const double one : measured_[i]) distances.push_back(std::abs(one / seconds[i] - 1));
  }
  const double noise = std::max(kLeastNoise, kRobust * Median(std::move(distances)));
  std::vector<double> errors;
  for (size_t i = 0; i < measured_.size(); ++i) {
    errors.push_back(kMedianError * noise * seconds[i] / std::sqrt(static_cast<double>(measured_[i].size())));
  }
  return errors;
}

bool StepRanges::Pays(const std::vector<int>& sizes, const std::vector<double>& seconds, Recut* recut) const {
  *recut = {.before = Sizes(), .after = sizes};
  recut->seconds_before = Slowest(recut->before, seconds);
  recut->seconds_after = Slowest(sizes, seconds);
  const double gain = recut->seconds_before - recut->seconds_after;
  if (gain < kLeastSeconds || gain < kLeastGain * recut->seconds_before) return false;
  std::vector<double> low = seconds, high = seconds;
  const std::vector<double> errors = Uncertainty(seconds);
  for (size_t i = 0; i < seconds.size(); ++i) {
    low[i] -= kDeviations * errors[i];
    high[i] += kDeviations * errors[i];
  }
  return Slowest(sizes, high) < Slowest(recut->before, low);
}

}  // namespace rekindle::train
