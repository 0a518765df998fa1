// Holds a flat gradient of summed losses in the memory of a device, in int64 fixed point or float32.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUFFER_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUFFER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"

namespace rekindle::train {

// Points to the elements of a flat gradient from `origin` on, while an operation runs. Exactly one of `fixed` and
// `values` is set. In fixed point the gradient is g = fixed * 2^-exponent, with one exponent a parameter.
struct GradientView {
  const int64_t* fixed = nullptr;
  const float* values = nullptr;
  int64_t origin = 0;

  const int64_t* FixedAt(int64_t element) const { return fixed == nullptr ? nullptr : fixed + (element - origin); }
  const float* ValuesAt(int64_t element) const { return values == nullptr ? nullptr : values + (element - origin); }
};

// Owns uninitialised memory for one gradient. It can be moved but not copied. It is thread-compatible.
class GradientBuffer {
 public:
  GradientBuffer() = default;
  explicit GradientBuffer(bool exact) : exact_(exact) {}

  // Allocates memory for `elements` elements. Returns RESOURCE_EXHAUSTED if the device has no room.
  absl::Status Allocate(device::Device& device, int64_t elements, const std::string& purpose);

  bool exact() const { return exact_; }
  int64_t element_bytes() const { return exact_ ? 8 : 4; }
  device::Range all() const { return memory_.all(); }
  device::Range Part(int64_t element, int64_t count) const {
    return memory_.Part(element * element_bytes(), count * element_bytes());
  }
  // Returns the view of the elements from `origin` on, which lie at `address` while an operation runs.
  GradientView ViewAt(const void* address, int64_t origin) const;

 private:
  bool exact_ = true;
  device::Memory memory_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUFFER_H_
