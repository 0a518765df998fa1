// Runs a model on weights that lie in the memory of a device.
#ifndef REKINDLE_WORKER_TRAIN_STEP_DEVICE_MODEL_H_
#define REKINDLE_WORKER_TRAIN_STEP_DEVICE_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/state/float_buffer.h"

namespace rekindle::train {

// Each pass of the model is an operation of the compute queue that reads the weights. The class is thread-compatible.
class DeviceModel {
 public:
  // Takes the summed loss of a micro-batch, or the error of its backward.
  using OnLoss = std::function<void(const absl::StatusOr<LossSum>&)>;

  // Both arguments must outlive the DeviceModel and the operations that it queues.
  DeviceModel(device::Device& device, Model& model) : device_(device), model_(model) {}

  const ParameterLayout& layout() const { return model_.layout(); }
  // Returns Model::LostSeconds(). REQUIRES: all passes that were queued have ended.
  double LostSeconds() const { return model_.LostSeconds(); }

  // Writes the initial values of the weights, and then lets `load`, if it is not null, replace them. Returns the error
  // of the model, of `load` or of the device. What the model throws becomes an error.
  absl::Status Initialize(uint64_t seed, const std::function<absl::Status(std::span<float>)>& load,
                          const FloatBuffer& weights);
  // Queues a forward and backward pass. `sink` and then `done` are called by its operation. What the model throws
  // becomes an error.
  void Backward(const FloatBuffer& weights, MicroBatch batch, const RandomKey& key, float loss_scale, GradientSink sink,
                OnLoss done);
  // Returns the loss of a micro-batch of an evaluation, or the error of the model or of the device.
  absl::StatusOr<LossSum> Evaluate(const FloatBuffer& weights, const MicroBatch& batch);

 private:
  // Makes the model's parameters views of the weights that an operation reads first, unless they are already.
  void Bind(const device::Addresses& at, const device::Launch& on);

  device::Device& device_;
  Model& model_;
  // The model uses `bound_` only while an operation runs that has this address.
  const float* bound_ = nullptr;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_DEVICE_MODEL_H_
