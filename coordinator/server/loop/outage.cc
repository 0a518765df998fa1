#include "coordinator/server/loop/outage.h"

#include <algorithm>
#include <string>

#include "common/log/log.h"

namespace rekindle::coordinator {
namespace {

constexpr double kFirstRetry = 0.1;
constexpr double kLongestRetry = 5;
constexpr double kLogEvery = 10;

}  // namespace

bool Outage::Failed(const absl::Status& error, double now) {
  const bool first = !lasts();
  error_ = error;
  retry_after_ = std::clamp(2 * retry_after_, kFirstRetry, kLongestRetry);
  retry_at_ = now + retry_after_;
  if (first || now >= logged_at_ + kLogEvery) {
    logged_at_ = now;
    log::Error("the state cannot be saved: nothing new is decided until it can; trainers go on",
               {{"error", std::string(error.message())}});
  }
  return first;
}

void Outage::End() {
  error_ = absl::OkStatus();
  retry_after_ = 0;
}

}  // namespace rekindle::coordinator
