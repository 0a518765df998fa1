// Gives tests a clock whose time passes only when somebody sleeps.
#ifndef REKINDLE_COMMON_TESTING_FAKE_CLOCK_H_
#define REKINDLE_COMMON_TESTING_FAKE_CLOCK_H_

#include <atomic>

#include "common/time/clock.h"

namespace rekindle::common {

// `FakeClock` is thread-safe. It must outlive the clocks that it returns.
class FakeClock {
 public:
  Clock clock() {
    return {.now = [this] { return Now(); }, .sleep = [this](double seconds) { now_ = now_ + seconds; }};
  }
  double Now() const { return now_; }

 private:
  std::atomic<double> now_{1000};
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_FAKE_CLOCK_H_
