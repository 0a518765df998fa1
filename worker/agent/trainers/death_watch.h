// Waits in a thread of its own for the release of a trainer's life lock (common/process/life_lock.h). The release is
// only a hint: the caller then asks the kernel whether the process ends.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_DEATH_WATCH_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_DEATH_WATCH_H_

#include <atomic>
#include <string>
#include <thread>

#include "common/process/life_lock.h"
#include "common/process/waker.h"

namespace rekindle::agent {

// A DeathWatch is thread-safe.
class DeathWatch {
 public:
  // Wakes `waker` when a death releases the life lock. `waker` must outlive the watch. `trainer` is the name for the
  // log.
  DeathWatch(common::LifeLock lock, std::string trainer, const common::Waker* waker);
  // The destructor waits for the watch's thread, a quarter of a second at most.
  ~DeathWatch();

  bool hinted() const { return hinted_; }

 private:
  void Run(const std::stop_token& stop);

  common::LifeLock lock_;
  const std::string trainer_;
  const common::Waker* const waker_;
  std::atomic<bool> hinted_ = false;
  std::jthread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_DEATH_WATCH_H_
