// A blocking call that its caller may stop waiting for: libraries of object stores cannot be interrupted, and a server
// that answers a byte a minute would hold the caller for ever.
//
//   Abandonable<std::string> read([client, key] { return client->Read(key); });
//   absl::StatusOr<std::string> got = read.Wait(5);   // DEADLINE_EXCEEDED: the call goes on, unheard
//
// The call runs on a thread of its own and must own what it uses. Thread-compatible.
#ifndef REKINDLE_COMMON_ABANDON_H_
#define REKINDLE_COMMON_ABANDON_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Calls that run though nobody waits for them any more.
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
      call = nullptr;  // What it owns is free before anybody hears of its end.
      const std::lock_guard<std::mutex> lock(shared->mutex);
      shared->result = std::move(result);
      if (shared->abandoned) internal::CountAbandoned(-1);
      shared->ended.notify_all();
    }).detach();
  }
  Abandonable(Abandonable&&) = default;
  Abandonable& operator=(Abandonable&&) = delete;
  ~Abandonable() {
    if (shared_ != nullptr) Abandon();
  }

  // The result, once; DEADLINE_EXCEEDED when it is not there after `seconds`.
  absl::StatusOr<T> Wait(double seconds) {
    std::unique_lock<std::mutex> lock(shared_->mutex);
    const auto there = [this] { return shared_->result.has_value(); };
    if (shared_->ended.wait_for(lock, std::chrono::duration<double>(seconds), there)) {
      return *std::move(shared_->result);
    }
    return absl::DeadlineExceededError("no answer in time");
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<absl::StatusOr<T>> result;
    bool abandoned = false;
  };

  void Abandon() {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    if (shared_->result.has_value()) return;
    shared_->abandoned = true;
    internal::CountAbandoned(1);
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_ABANDON_H_
