// Asks the NVIDIA driver for the machine's GPUs while the agent's loop goes on, because a driver may take seconds to
// answer.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_DRIVER_QUESTION_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_DRIVER_QUESTION_H_

#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "worker/gpus/gpu.h"

namespace rekindle::agent {

// A DriverQuestion is thread-compatible. Its destructor waits for a question that is under way.
class DriverQuestion {
 public:
  // `find` is called on another thread and returns the machine's GPUs. `waker` is woken when it has returned, and must
  // outlive this object.
  DriverQuestion(std::function<absl::StatusOr<std::vector<gpus::Gpu>>()> find, const common::Waker* waker)
      : find_(std::move(find)), waker_(waker) {}
  ~DriverQuestion();

  // Begins a question, unless one is under way.
  void Ask();
  bool is_under_way() const { return thread_.joinable(); }
  // Returns the answer once it is there.
  std::optional<absl::StatusOr<std::vector<gpus::Gpu>>> Take();

 private:
  const std::function<absl::StatusOr<std::vector<gpus::Gpu>>()> find_;
  const common::Waker* const waker_;
  common::Mutex mutex_;
  std::optional<absl::StatusOr<std::vector<gpus::Gpu>>> answer_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_DRIVER_QUESTION_H_
