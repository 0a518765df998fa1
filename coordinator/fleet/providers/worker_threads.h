// Threads that wait for providers, one an account, and how they are left: a call that hangs holds nobody up.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_WORKER_THREADS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_WORKER_THREADS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/abandon.h"
#include "common/clock.h"

namespace rekindle::fleet {

// Where a worker's findings go until it is closed. Thread-safe.
template <typename Finding>
class Outlet {
 public:
  explicit Outlet(std::function<void(const Finding&)> report) : report_(std::move(report)) {}

  // False: it is closed.
  bool Tell(const Finding& finding) {
    const std::lock_guard lock(mutex_);
    if (report_) report_(finding);
    return report_ != nullptr;
  }
  // Nothing is told any more once it has returned.
  void Close() {
    const std::lock_guard lock(mutex_);
    report_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void(const Finding&)> report_;  // Under mutex_.
};

// Worker has Run(), and Stop(), which makes that end when what it waits for has. Thread-compatible.
template <typename Worker>
class WorkerThreads {
 public:
  // Once.
  void Start(std::vector<std::shared_ptr<Worker>> workers) {
    workers_ = std::move(workers);
    for (const auto& worker : workers_) {
      threads_.emplace_back([worker] {
        worker->Run();
        return absl::StatusOr<bool>(true);
      });
    }
  }
  // A call that runs is left to end by itself after a second. Idempotent.
  void Stop() {
    constexpr double kStopSeconds = 1;
    for (const auto& worker : workers_) worker->Stop();
    const double until = common::SteadySeconds() + kStopSeconds;
    for (common::Abandonable<bool>& thread : threads_) {
      (void)thread.Wait(std::max(0.0, until - common::SteadySeconds()));
    }
    threads_.clear();
  }

 private:
  std::vector<std::shared_ptr<Worker>> workers_;
  std::vector<common::Abandonable<bool>> threads_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_WORKER_THREADS_H_
