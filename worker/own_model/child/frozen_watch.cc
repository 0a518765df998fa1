#include "worker/own_model/child/frozen_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::own_model {
namespace {

constexpr size_t kRemembered = 31;
constexpr double kAskSeconds = 1;
// A process that only answers pings needs much longer than FrozenLimits::quiet_seconds to use so much of the
// processor's time.
constexpr double kIdleSeconds = 0.01;

}  // namespace

void FrozenWatch::Replace() {
  cpu_seconds_ = 0;
  is_asked_ = false;
  for (Known& known : known_) known.is_first = true;
}

void FrozenWatch::Begin(double now, Work work) {
  begun_at_ = heard_at_ = now;
  work_ = work;
}

void FrozenWatch::End(double now) {
  Known& known = Present();
  known.is_first = false;
  known.seconds.push_back(now - begun_at_);
  if (known.seconds.size() > kRemembered) known.seconds.pop_front();
}

bool FrozenWatch::Asks(double now) {
  if (is_asked_ || now - asked_at_ < kAskSeconds) return false;
  is_asked_ = true;
  asked_at_ = now;
  return true;
}

double FrozenWatch::Limit() const {
  if (Present().is_first) return limits_.first_seconds;
  std::vector<double> sorted(Present().seconds.begin(), Present().seconds.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return std::max(limits_.least_seconds, limits_.factor * *middle);
}

std::string FrozenWatch::LongFirst(double now) const {
  return Present().is_first ? absl::StrCat("compiling or loading, ", std::llround(now - begun_at_), " s") : "";
}

std::string FrozenWatch::Look(const ProcessView& view, double now) {
  if (view.is_stopped) return "a signal has stopped it";
  // What a process has used that is gone, and that nobody has waited for, is not known any more.
  cpu_seconds_ = std::min(cpu_seconds_, view.cpu_seconds);
  // The base stays where it is until there was enough, so that a process that gets little of the processor is not taken
  // for one that computes nothing.
  if (view.cpu_seconds - cpu_seconds_ > kIdleSeconds) {
    heard_at_ = now;
    cpu_seconds_ = view.cpu_seconds;
  }
  if (now - heard_at_ >= limits_.quiet_seconds) {
    return absl::StrCat("it has used no processor and said nothing for ", limits_.quiet_seconds, " s");
  }
  const double limit = Limit();
  if (now - begun_at_ < limit) return "";
  return absl::StrCat("a micro-batch takes longer than ", std::llround(limit), " s",
                      Present().is_first ? ", although the first one may take long" : "");
}

}  // namespace rekindle::own_model
