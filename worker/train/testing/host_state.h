// Reads and writes what lies in the memory of a host device.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_HOST_STATE_H_
#define REKINDLE_WORKER_TRAIN_TESTING_HOST_STATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "worker/device/contract/device.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Returns a host device that all tests of a program share.
device::Device& TestHost();

// Returns the memory of a range on TestHost() as elements, which the test may read and write.
template <typename T>
std::span<T> ElementsOf(const device::Range& range) {
  T* address = nullptr;
  TestHost().Run(device::Queue::kCompute,
                 {.name = "look", .reads = {}, .writes = {range}, .run = [&](const device::Addresses& at) {
                    address = at.Write<T>(0);
                    return absl::OkStatus();
                  }});
  return {address, static_cast<size_t>(range.bytes) / sizeof(T)};
}
inline std::span<float> FloatsOf(const FloatBuffer& buffer) { return ElementsOf<float>(buffer.all()); }

// Returns a state of zeros on TestHost().
TrainState ZeroState(const ParameterLayout& layout, int moments = 2);
// Returns the digest of a state on TestHost().
std::string DigestOf(const TrainState& state);

// Returns a gradient on TestHost() with these values.
GradientBuffer GradientOf(std::span<const int64_t> fixed);
GradientBuffer GradientOf(std::span<const float> values);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_HOST_STATE_H_
