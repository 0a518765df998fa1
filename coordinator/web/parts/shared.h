// Holds a value that is made at most once per interval and shared by all viewers who ask meanwhile. So ten viewers cost
// as much as one.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_SHARED_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_SHARED_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::coordinator::web {

// Shared is thread-safe.
template <typename T>
class Shared {
 public:
  using Pointer = std::shared_ptr<const T>;
  using Make = std::function<absl::StatusOr<T>()>;

  explicit Shared(double seconds) : seconds_(seconds) {}

  // Returns the shared value if it is at most `seconds` old, and otherwise makes a new one with `make`. Only one caller
  // at a time runs `make`, while the others wait for its result. An error is shared like a value.
  absl::StatusOr<Pointer> Get(const Make& make) {
    const common::MutexLock lock(mutex_);
    const double now = common::SteadySeconds();
    if (now < good_until_) return made_;
    absl::StatusOr<T> made = make();
    if (made.ok()) {
      made_ = std::make_shared<const T>(*std::move(made));
    } else {
      made_ = made.status();
    }
    good_until_ = now + seconds_;
    return made_;
  }

 private:
  const double seconds_;
  common::Mutex mutex_;
  absl::StatusOr<Pointer> made_ ABSL_GUARDED_BY(mutex_) = Pointer();
  double good_until_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_SHARED_H_
