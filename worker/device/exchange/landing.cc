#include "worker/device/exchange/landing.h"

#include <utility>

namespace rekindle::device {

absl::Status Landing::Allocate(Device& device, int64_t bytes) {
  for (Slot& slot : slots_) {
    absl::StatusOr<Memory> memory = device.Allocate(bytes, "what NCCL receives");
    if (!memory.ok()) return memory.status();
    slot.memory = *std::move(memory);
  }
  return absl::OkStatus();
}

Landing::Slot& Landing::Next() { return slots_[next_++ % kSlots]; }

}  // namespace rekindle::device
