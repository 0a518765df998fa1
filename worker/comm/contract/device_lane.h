// Says how far the exchange between the devices of the ranks has come. It goes beside the operations of a communicator,
// which does not carry it but watches it: ranks tell each other how far their devices are, so that the rank whose
// device hangs is accused, and not one that waits for it.
#ifndef REKINDLE_WORKER_COMM_CONTRACT_DEVICE_LANE_H_
#define REKINDLE_WORKER_COMM_CONTRACT_DEVICE_LANE_H_

#include <cstdint>

#include "common/sync/mutex.h"

namespace rekindle::comm {

// A device carries out the operations of its lane one after the other. One thread calls Reach() and Complete(), and any
// thread may look.
class DeviceLane {
 public:
  // Notes that the device has come to the next operation, so that only other ranks can hold it up now. `peers` has one
  // bit for each rank that an operation point to point waits for. It is 0 for a collective. The operation may take
  // `least_seconds`, even if the deadline of the communicator is shorter.
  void Reach(uint64_t peers = 0, double least_seconds = 0);
  // Notes that the device has carried out the operation that it reached last.
  void Complete();

  struct View {
    // `reached` counts the collectives that the device has come to.
    uint64_t reached = 0;
    // `pending` says that the device is in an operation, which it came to at `since` (common::SteadySeconds).
    bool pending = false;
    double since = 0;
    double least_seconds = 0;
    // `collective` is the number of the pending collective. It is 0 for an operation point to point, which waits for
    // the ranks in `waiting_for`.
    uint64_t collective = 0;
    uint64_t waiting_for = 0;
  };
  View Look() const;

 private:
  mutable common::Mutex mutex_;
  View view_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONTRACT_DEVICE_LANE_H_
