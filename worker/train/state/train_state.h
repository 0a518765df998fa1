// Holds the training state, which is all that shapes the next step, in the memory of a device.
#ifndef REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_
#define REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/digest/hash.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/state/float_buffer.h"
#include "worker/train/state/state_scalars.h"

namespace rekindle::train {

// Returns the scalars of a state before its first step.
StateScalars FirstScalars(const ParameterLayout& layout);

struct TrainState {
  FloatBuffer weights;
  // A moment that the optimizer does not keep is empty and counts as zeros.
  FloatBuffer first_moment;
  FloatBuffer second_moment;
  // `moments` is the number of moments that the optimizer keeps (OptimizerKind::moments).
  int moments = 2;
  StateScalars scalars;

  // Returns a state of zeros with the exponents of step 0 (kInitialExponent), or RESOURCE_EXHAUSTED if the device has
  // no room. With `in_parts` the moments take no memory before it is committed. `device` must outlive the state.
  static absl::StatusOr<TrainState> Zero(device::Device& device, const ParameterLayout& layout, int moments = 2,
                                         bool in_parts = false);
};

// Returns the moments of `state` that the optimizer keeps, at most `moments`.
std::vector<FloatBuffer*> MomentsOf(TrainState& state, int moments);
std::vector<const FloatBuffer*> MomentsOf(const TrainState& state, int moments);

// Computes the digest of a state, part by part in order: all of the weights, all of the first moment, and all of the
// second moment. The class is thread-compatible.
class StateHasher {
 public:
  // `device` must outlive the StateHasher.
  explicit StateHasher(device::Device& device) : device_(device) {}

  // Adds floats of the device, which no operation may change meanwhile. Returns the error of the device.
  absl::Status Add(const device::Range& floats);
  void AddZeros(int64_t elements);
  // Adds the cursor and returns the digest.
  std::string Finish(const StateScalars& scalars);

 private:
  device::Device& device_;
  common::Hasher hasher_;
};

// Returns the XXH3-128 hash in hex over the weights, the first moment, the second moment (raw little-endian floats in
// layout order) and the cursor as int64. Equal digests mean states with equal bits. The exponents, the loss scale and
// the levers are not hashed, because they follow from the same history. Returns the error of the device, if it has one.
absl::StatusOr<std::string> StateDigest(device::Device& device, const TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_
