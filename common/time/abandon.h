// Runs a blocking call for which its caller may stop waiting. Libraries of object stores cannot be interrupted, and a
// server that answers one byte a minute would hold the caller for ever.
//
//   Abandonable<std::string> read([client, key] { return client->Read(key); });
//   absl::StatusOr<std::string> got = read.Wait(5);   // On DEADLINE_EXCEEDED the call continues unobserved.
//
// The call runs on a thread of its own and must own what it uses. The class is thread-compatible.
#ifndef REKINDLE_COMMON_TIME_ABANDON_H_
#define REKINDLE_COMMON_TIME_ABANDON_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

// Returns the number of calls that still run although nobody waits for them.
int AbandonedCalls();

namespace internal {
void CountAbandoned(int change);
}  // namespace internal

template <typename T>
class Abandonable {
 public:
  explicit Abandonable(std::function<absl::StatusOr<T>()> call) : shared_(std::make_shared<Shared>()) {
    std::thread([shared = shared_, call = std::move(call)]() mutable {
      absl::StatusOr<T> result = call();
      // What the call owns is freed before others can see that the call has ended.
      call = nullptr;
      const MutexLock lock(shared->mutex);
      shared->result = std::move(result);
      if (shared->abandoned) internal::CountAbandoned(-1);
      shared->ended.NotifyAll();
    }).detach();
  }
  Abandonable(Abandonable&&) = default;
  Abandonable& operator=(Abandonable&&) = delete;
  ~Abandonable() {
    if (shared_ != nullptr) Abandon();
  }

  // Waits for the result of the call and returns it. It may be called once. Returns DEADLINE_EXCEEDED if there is no
  // result after `seconds`.
  absl::StatusOr<T> Wait(double seconds) {
    MutexLock lock(shared_->mutex);
    const auto there = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mutex) { return shared_->result.has_value(); };
    if (shared_->ended.WaitFor(lock, std::chrono::duration<double>(seconds), there)) {
      return *std::move(shared_->result);
    }
    return absl::DeadlineExceededError("no answer in time");
  }

 private:
  struct Shared {
    Mutex mutex;
    CondVar ended;
    std::optional<absl::StatusOr<T>> result ABSL_GUARDED_BY(mutex);
    bool abandoned ABSL_GUARDED_BY(mutex) = false;
  };

  void Abandon() {
    const MutexLock lock(shared_->mutex);
    if (shared_->result.has_value()) return;
    shared_->abandoned = true;
    internal::CountAbandoned(1);
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_ABANDON_H_
