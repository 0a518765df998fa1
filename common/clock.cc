#include "common/clock.h"

#include <ctime>

namespace rekindle::common {
namespace {

double Read(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

double SteadySeconds() { return Read(CLOCK_MONOTONIC); }
double WallSeconds() { return Read(CLOCK_REALTIME); }

}  // namespace rekindle::common
