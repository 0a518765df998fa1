// Waits for the release of a trainer's life lock (common/life_lock.h), in a thread of its own. It is a hint: whoever is
// told asks the kernel whether the process ends.
#ifndef REKINDLE_WORKER_AGENT_DEATH_WATCH_H_
#define REKINDLE_WORKER_AGENT_DEATH_WATCH_H_

#include <atomic>
#include <string>
#include <thread>

#include "common/life_lock.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

// Thread-safe.
class DeathWatch {
 public:
  // Wakes `waker`, which must outlive it, when the lock is released by a death. `trainer`: for the log.
  DeathWatch(common::LifeLock lock, std::string trainer, const Waker* waker);
  // Waits for the thread: a quarter of a second at most.
  ~DeathWatch();

  bool hinted() const { return hinted_; }

 private:
  void Run(const std::stop_token& stop);

  common::LifeLock lock_;
  const std::string trainer_;
  const Waker* const waker_;
  std::atomic<bool> hinted_ = false;
  std::jthread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DEATH_WATCH_H_
