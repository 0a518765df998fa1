#include "common/time/clock.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace rekindle::common {
namespace {

double Read(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Returns by how many seconds a test has shifted the wall clock. The variable REKINDLE_TEST_CLOCK alone could be a
// leftover, so the file that it names must also say that a test shifts the clock.
double ShiftOfTest() {
  const char* path = std::getenv("REKINDLE_TEST_CLOCK");
  if (path == nullptr) return 0;
  std::string line;
  std::getline(std::ifstream(path), line);
  double seconds = 0;
  return std::sscanf(line.c_str(), "a test shifts the wall clock by %lf s", &seconds) == 1 ? seconds : 0;
}

}  // namespace

double SteadySeconds() { return Read(CLOCK_MONOTONIC); }
double BootSeconds() { return Read(CLOCK_BOOTTIME); }
double WallSeconds() { return Read(CLOCK_REALTIME) + ShiftOfTest(); }

void SleepSeconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace rekindle::common
