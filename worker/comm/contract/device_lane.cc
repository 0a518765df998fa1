#include "worker/comm/contract/device_lane.h"

#include "common/time/clock.h"

namespace rekindle::comm {

void DeviceLane::Reach(uint64_t peers, double least_seconds) {
  const common::MutexLock lock(mutex_);
  view_.pending = true;
  view_.since = common::SteadySeconds();
  view_.least_seconds = least_seconds;
  view_.waiting_for = peers;
  view_.collective = peers == 0 ? ++view_.reached : 0;
}

void DeviceLane::Complete() {
  const common::MutexLock lock(mutex_);
  view_.pending = false;
}

DeviceLane::View DeviceLane::Look() const {
  const common::MutexLock lock(mutex_);
  return view_;
}

}  // namespace rekindle::comm
