// This file runs threads that wait for providers, one for each account. A call that hangs does not delay the end of the
// program.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_WORKER_THREADS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_WORKER_THREADS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "common/time/abandon.h"
#include "common/time/clock.h"

namespace rekindle::fleet {

// An Outlet passes a worker's findings to a report function until it is closed. It is thread-safe.
template <typename Finding>
class Outlet {
 public:
  explicit Outlet(std::function<void(const Finding&)> report) : report_(std::move(report)) {}

  // Reports the finding. Returns false where the outlet is closed.
  bool Tell(const Finding& finding) {
    const common::MutexLock lock(mutex_);
    if (report_) report_(finding);
    return report_ != nullptr;
  }
  // Closes the outlet. Nothing is reported any more once Close has returned.
  void Close() {
    const common::MutexLock lock(mutex_);
    report_ = nullptr;
  }

 private:
  common::Mutex mutex_;
  std::function<void(const Finding&)> report_ ABSL_GUARDED_BY(mutex_);
};

// WorkerThreads runs each Worker on a thread of its own. A Worker has Run() and Stop(), and Stop() makes Run() end as
// soon as the call that it waits for has ended. WorkerThreads is thread-compatible.
template <typename Worker>
class WorkerThreads {
 public:
  // Starts one thread for each worker. The caller must call Start at most once.
  void Start(std::vector<std::shared_ptr<Worker>> workers) {
    workers_ = std::move(workers);
    for (const auto& worker : workers_) {
      threads_.emplace_back([worker] {
        worker->Run();
        return absl::StatusOr<bool>(true);
      });
    }
  }
  // Stops the workers. A call that still runs after a second is left to end by itself. The function is idempotent.
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

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_WORKER_THREADS_H_
