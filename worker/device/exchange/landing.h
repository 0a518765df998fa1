// Holds the memory into which NCCL writes. What has come to its end there is copied to where it belongs. So an
// operation that hangs can write nowhere else when it wakes up and nobody expects it any more.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_LANDING_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_LANDING_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

// The class is thread-compatible.
class Landing {
 public:
  // So many pieces are on the device's queue at once. While one is carried out, the next one is there already.
  static constexpr size_t kSlots = 4;

  struct Slot {
    Memory memory;
    // `copied` is a mark behind the last copy from the slot.
    Mark copied;
  };

  // Allocates slots for pieces of at most `bytes` bytes.
  absl::Status Allocate(Device& device, int64_t bytes);
  // Returns the slot that was taken longest ago. What NCCL writes there has to come after `copied`.
  Slot& Next();

 private:
  std::array<Slot, kSlots> slots_;
  size_t next_ = 0;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_LANDING_H_
