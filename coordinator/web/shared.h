// A value that is made at most every so often, and shared by everybody who asks meanwhile: ten viewers cost what one
// does.
#ifndef REKINDLE_COORDINATOR_WEB_SHARED_H_
#define REKINDLE_COORDINATOR_WEB_SHARED_H_

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "common/clock.h"

namespace rekindle::coordinator::web {

// Thread-safe.
template <typename T>
class Shared {
 public:
  using Pointer = std::shared_ptr<const T>;
  using Make = std::function<absl::StatusOr<T>()>;

  explicit Shared(double seconds) : seconds_(seconds) {}

  // One that is not older than `seconds`, else what `make` gives: called by one at a time, while the others wait for
  // it. An error is shared like a value.
  absl::StatusOr<Pointer> Get(const Make& make) {
    const std::lock_guard lock(mutex_);
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
  std::mutex mutex_;
  absl::StatusOr<Pointer> made_ = Pointer();
  double good_until_ = 0;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SHARED_H_
