// Caps a rate. Tokens flow in at `rate` up to `burst`. A taker of more tokens than there are goes into debt and has to
// wait until the debt is paid.
#ifndef REKINDLE_COMMON_TIME_TOKEN_BUCKET_H_
#define REKINDLE_COMMON_TIME_TOKEN_BUCKET_H_

#include <algorithm>

#include "common/sync/mutex.h"

namespace rekindle::common {

// Limits the rate of all takers together. It is thread-safe, and serves takers in the order of their calls. Times are
// in seconds of any clock that does not go back.
class TokenBucket {
 public:
  // `rate` is in tokens per second and above 0. The bucket starts full.
  TokenBucket(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

  // Takes `amount` tokens and returns how many seconds the caller has to wait before it uses them.
  double Take(double amount, double now) {
    const MutexLock lock(mutex_);
    if (started_) tokens_ = std::min(burst_, tokens_ + rate_ * std::max(0.0, now - last_));
    started_ = true;
    last_ = std::max(last_, now);
    tokens_ -= amount;
    return tokens_ >= 0 ? 0 : -tokens_ / rate_;
  }

 private:
  const double rate_, burst_;
  Mutex mutex_;
  double tokens_ ABSL_GUARDED_BY(mutex_);
  double last_ ABSL_GUARDED_BY(mutex_) = 0;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_TOKEN_BUCKET_H_
