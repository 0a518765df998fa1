// Everything that shapes the next step. Torch-free plain memory.
#ifndef REKINDLE_WORKER_TRAIN_STATE_H_
#define REKINDLE_WORKER_TRAIN_STATE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/train/levers/lever_state.h"
#include "worker/train/loss_scale.h"
#include "worker/train/model.h"

namespace rekindle::train {

// 64-byte aligned, zeroed floats. Movable.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(int64_t size);
  // Of zeros that take no memory until they are written.
  static FloatBuffer Unused(int64_t size);
  // Of an Unused one: gives back the memory of elements [begin, end), whose values are lost, but for that of pages
  // which hold others too. And what it takes now.
  void Release(int64_t begin, int64_t end);
  int64_t ResidentBytes() const;
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  std::span<float> span() { return {data_.get(), static_cast<size_t>(size_)}; }
  std::span<const float> span() const { return {data_.get(), static_cast<size_t>(size_)}; }

 private:
  struct Free {
    size_t mapped;  // Bytes to unmap; 0: from the heap.
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_{nullptr, Free{0}};
  int64_t size_ = 0;
};

// The scalars of the state. Travels as a fixed little-endian record (see EncodeScalars) and as JSON in manifests.
struct StateScalars {
  int64_t step = 0;                // Steps wholly applied.
  int64_t attempt = 0;             // Redone attempts of the running step.
  int64_t cursor = 0;              // Samples consumed: global_batch * step.
  std::vector<int32_t> exponents;  // Exact mode: power-of-two scale of each parameter's gradient for the next step.
  LossScale loss_scale;            // FP16.
  LeverState levers;
};

struct TrainState {
  FloatBuffer weights;
  FloatBuffer first_moment;
  FloatBuffer second_moment;
  int moments = 2;  // That the optimizer keeps (OptimizerKind::moments).
  StateScalars scalars;

  // Zeros; exponents are those of step 0 (kInitialExponent). Moments that the optimizer does not keep take no memory
  // and must stay zeros; `in_parts`: nor do the others before they are written.
  static TrainState Zero(const ParameterLayout& layout, int moments = 2, bool in_parts = false);
  // Gives back what zeros have been written into moments that are not kept.
  void DropUnused();
};

// XXH3-128, hex, over weights, first moment, second moment (raw little-endian floats in layout order), then
// the cursor as int64: equal digests mean bit-equal state. (Exponents, loss scale and levers follow from the same
// history.)
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
