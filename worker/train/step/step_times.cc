#include "worker/train/step/step_times.h"

#include <algorithm>
#include <vector>

namespace rekindle::train {
namespace {

constexpr double kSmoothing = 0.1;
constexpr size_t kWindow = 200;

double Smooth(double old, double now) { return old == 0 ? now : old + kSmoothing * (now - old); }

}  // namespace

void StepTimes::AddStep(double seconds) {
  step_ = Smooth(step_, seconds);
  newest_.push_back(seconds);
  if (newest_.size() > kWindow) newest_.pop_front();
}

double StepTimes::step_seconds_p99() const {
  if (newest_.empty()) return 0;
  std::vector<double> sorted(newest_.begin(), newest_.end());
  const size_t at = (sorted.size() - 1) * 99 / 100;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(at), sorted.end());
  return sorted[at];
}

}  // namespace rekindle::train
