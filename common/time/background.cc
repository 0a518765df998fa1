#include "common/time/background.h"

#include <sched.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

namespace rekindle::common {
namespace {

// Returns for how many seconds this thread has waited for a processor since it began. The second figure of schedstat
// (proc(5)) has that time in nanoseconds.
double SecondsWithoutProcessor() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  return file >> ran >> waited ? waited * 1e-9 : 0;
}

}  // namespace

double RunInBackground(const std::function<void()>& work) {
  double waited = 0;
  std::thread([&] {
    // The priority of background work was chosen by scripts/bench checkpoint. At nice 10, training beside a checkpoint
    // kept 0.84 of its speed, at nice 15 with SCHED_BATCH 0.89, and at nice 19 with SCHED_BATCH 0.95. If a call that
    // sets the priority fails, that only costs speed.
    constexpr int kNice = 19;
    const sched_param no_priority{};
    // A thread of SCHED_BATCH never preempts others when it wakes.
    sched_setscheduler(0, SCHED_BATCH, &no_priority);
    setpriority(PRIO_PROCESS, 0, kNice);
    work();
    waited = SecondsWithoutProcessor();
  }).join();
  return waited;
}

}  // namespace rekindle::common
