#include "common/clock.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace rekindle::common {
namespace {

double Read(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class MachineClock : public Clock {
 public:
  double Now() override { return SteadySeconds(); }
  void Sleep(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
};

}  // namespace

double SteadySeconds() { return Read(CLOCK_MONOTONIC); }
double BootSeconds() { return Read(CLOCK_BOOTTIME); }
double WallSeconds() { return Read(CLOCK_REALTIME); }

Clock* RealClock() {
  static MachineClock* clock = new MachineClock();
  return clock;
}

}  // namespace rekindle::common
