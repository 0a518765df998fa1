#include "common/background.h"

#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace rekindle::common {

void RunInBackground(const std::function<void()>& work) {
  std::thread([&] {
    // Measured by scripts/bench checkpoint: at nice 10, training beside a checkpoint kept 0.84 of its speed, at nice 15
    // and SCHED_BATCH 0.89, so 0.95. What cannot be had only costs speed.
    constexpr int kNice = 19;
    const sched_param no_priority{};
    sched_setscheduler(0, SCHED_BATCH, &no_priority);  // It never preempts when it wakes.
    setpriority(PRIO_PROCESS, 0, kNice);
    work();
  }).join();
}

}  // namespace rekindle::common
