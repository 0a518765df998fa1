// A cap on a rate: tokens flow in at `rate` up to `burst`; who takes more goes into debt and waits it off.
#ifndef REKINDLE_COMMON_TOKEN_BUCKET_H_
#define REKINDLE_COMMON_TOKEN_BUCKET_H_

#include <algorithm>
#include <mutex>

namespace rekindle::common {

// Thread-safe; takers are served in the order of their calls. Time is any clock in seconds that does not go back.
class TokenBucket {
 public:
  // `rate` tokens a second, above 0; it starts full.
  TokenBucket(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

  // Takes `amount` and returns how many seconds to wait before using it.
  double Take(double amount, double now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (started_) tokens_ = std::min(burst_, tokens_ + rate_ * std::max(0.0, now - last_));
    started_ = true;
    last_ = std::max(last_, now);
    tokens_ -= amount;
    return tokens_ >= 0 ? 0 : -tokens_ / rate_;
  }

 private:
  const double rate_, burst_;
  std::mutex mutex_;
  double tokens_;
  double last_ = 0;
  bool started_ = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TOKEN_BUCKET_H_
