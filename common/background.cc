#include "common/background.h"

#include <sys/resource.h>

#include <thread>

namespace rekindle::common {

void RunInBackground(const std::function<void()>& work) {
  std::thread([&] {
    constexpr int kNice = 10;  // A tenth of the share, where there are more threads than cores.
    setpriority(PRIO_PROCESS, 0, kNice);
    work();
  }).join();
}

}  // namespace rekindle::common
