// Everything that shapes the next step. Torch-free plain memory.
#ifndef REKINDLE_WORKER_TRAIN_STATE_H_
#define REKINDLE_WORKER_TRAIN_STATE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/train/loss_scale.h"
#include "worker/train/model.h"

namespace rekindle::train {

// 64-byte aligned, zeroed floats. Movable.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(int64_t size);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  std::span<float> span() { return {data_.get(), static_cast<size_t>(size_)}; }
  std::span<const float> span() const { return {data_.get(), static_cast<size_t>(size_)}; }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_;
  int64_t size_ = 0;
};

// The scalars of the state. Travels as a fixed little-endian record (see EncodeScalars) and as JSON in manifests.
struct StateScalars {
  int64_t step = 0;                // Steps wholly applied.
  int64_t attempt = 0;             // Redone attempts of the running step.
  int64_t cursor = 0;              // Samples consumed: global_batch * step.
  std::vector<int32_t> exponents;  // Exact mode: power-of-two scale of each parameter's gradient for the next step.
  LossScale loss_scale;            // FP16.
};

struct TrainState {
  FloatBuffer weights;
  FloatBuffer first_moment;
  FloatBuffer second_moment;
  StateScalars scalars;

  // Zeros; exponents are those of step 0 (kInitialExponent).
  static TrainState Zero(const ParameterLayout& layout);
};

// XXH3-128, hex, over weights, first moment, second moment (raw little-endian floats in layout order), then
// the cursor as int64: equal digests mean bit-equal state. (Exponents and loss scale follow from the same history.)
std::string StateDigest(const TrainState& state);

std::vector<uint8_t> EncodeScalars(const StateScalars& scalars);
// INVALID_ARGUMENT on a malformed record.
absl::Status DecodeScalars(std::span<const uint8_t> bytes, StateScalars* scalars);
std::string ScalarsToJson(const StateScalars& scalars);
absl::Status ScalarsFromJson(const std::string& json, StateScalars* scalars);
// INVALID_ARGUMENT when decoded scalars are of another model: then nothing may use them.
absl::Status CheckFits(const StateScalars& scalars, const ParameterLayout& layout);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_H_
