#include "worker/own_model/child/frozen_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::own_model {
namespace {

constexpr size_t kRemembered = 31;
// A process that only answers pings uses this much of the processor's time, or less, between two looks.
constexpr double kIdleSeconds = 0.01;

}  // namespace

void FrozenWatch::Replace() {
  cpu_seconds_ = 0;
  is_first_ = true;
}

void FrozenWatch::Begin(double now) { begun_at_ = heard_at_ = now; }

void FrozenWatch::End(double now) {
  is_first_ = false;
  seconds_.push_back(now - begun_at_);
  if (seconds_.size() > kRemembered) seconds_.pop_front();
}

double FrozenWatch::Limit() const {
  if (is_first_) return limits_.first_seconds;
  std::vector<double> sorted(seconds_.begin(), seconds_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return std::max(limits_.least_seconds, limits_.factor * *middle);
}

std::string FrozenWatch::Look(const ProcessView& view, double now) {
  if (view.is_stopped) return "a signal has stopped it";
  if (view.cpu_seconds - cpu_seconds_ > kIdleSeconds) heard_at_ = now;
  cpu_seconds_ = std::max(cpu_seconds_, view.cpu_seconds);
  if (now - heard_at_ >= limits_.quiet_seconds) {
    return absl::StrCat("it has used no processor and said nothing for ", limits_.quiet_seconds, " s");
  }
  const double limit = Limit();
  if (now - begun_at_ < limit) return "";
  return absl::StrCat("a micro-batch takes longer than ", std::llround(limit), " s",
                      is_first_ ? ", although the first one may take long" : "");
}

}  // namespace rekindle::own_model
