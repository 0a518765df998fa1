#include "worker/train/arithmetic/gradient_buffer.h"

#include <utility>

namespace rekindle::train {

absl::Status GradientBuffer::Allocate(device::Device& device, int64_t elements, const std::string& purpose) {
  absl::StatusOr<device::Memory> memory = device.Allocate(elements * element_bytes(), purpose);
  if (!memory.ok()) return memory.status();
  memory_ = *std::move(memory);
  return absl::OkStatus();
}

GradientView GradientBuffer::ViewAt(const void* address, int64_t origin) const {
  return {.fixed = exact_ ? static_cast<const int64_t*>(address) : nullptr,
          .values = exact_ ? nullptr : static_cast<const float*>(address),
          .origin = origin};
}

}  // namespace rekindle::train
