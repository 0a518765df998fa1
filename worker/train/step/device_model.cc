#include "worker/train/step/device_model.h"

#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "worker/contract/out_of_memory.h"
#include "worker/device/contract/host_access.h"

namespace rekindle::train {
namespace {

// Calls `pass` and turns what it throws into a status.
template <typename Pass>
std::invoke_result_t<Pass> Caught(const Pass& pass) {
  try {
    return pass();
  } catch (const std::exception& error) {
    return FromException(error);
  }
}

}  // namespace

void DeviceModel::Bind(const device::Addresses& at, const device::Launch& on) {
  model_.UseQueue(on.queue, *on.kernels);
  const auto* const address = at.Read<float>(0);
  if (bound_ == address) return;
  // If the model finds no memory, it is bound to nothing.
  bound_ = nullptr;
  // A pass of the model never writes its weights.
  model_.BindWeights(const_cast<float*>(address));
  bound_ = address;
}

absl::Status DeviceModel::Initialize(uint64_t seed, const std::function<absl::Status(std::span<float>)>& load,
                                     const FloatBuffer& weights) {
  // The processor writes its own memory in place.
  if (device_.IsHost()) {
    absl::Status made;
    absl::Status status = RunAndAwait(
        device_, device::Queue::kCompute,
        {.name = "initialize", .reads = {}, .writes = {weights.all()}, .run = [&](const device::Addresses& at) {
           const std::span<float> values(at.Write<float>(0), static_cast<size_t>(weights.size()));
           made = Caught([&] { return model_.Initialize(seed, values); });
           if (made.ok() && load) made = load(values);
           return absl::OkStatus();
         }});
    status.Update(made);
    return status;
  }
  std::vector<float> values(static_cast<size_t>(weights.size()));
  absl::Status made = Caught([&] { return model_.Initialize(seed, values); });
  if (made.ok() && load) made = load(values);
  if (!made.ok()) return made;
  return WriteFromHost(device_, device::Queue::kCompute, "initialize", std::as_bytes(std::span<const float>(values)),
                       weights.all());
}

void DeviceModel::Backward(const FloatBuffer& weights, MicroBatch batch, const RandomKey& key, float loss_scale,
                           GradientSink sink, OnLoss done) {
  device_.Run(device::Queue::kCompute,
              {.name = "backward",
               .reads = {weights.all()},
               .writes = {},
               .launch = [this, batch = std::move(batch), key, loss_scale, sink = std::move(sink),
                          done = std::move(done)](const device::Addresses& at, const device::Launch& on) {
                 done(Caught([&] {
                   Bind(at, on);
                   return model_.Backward(batch, key, loss_scale, sink);
                 }));
                 return 0;
               }});
}

absl::StatusOr<LossSum> DeviceModel::Evaluate(const FloatBuffer& weights, const MicroBatch& batch) {
  absl::StatusOr<LossSum> loss = LossSum{};
  const absl::Status status = RunAndAwait(device_, device::Queue::kCompute,
                                          {.name = "evaluate",
                                           .reads = {weights.all()},
                                           .writes = {},
                                           .launch = [&](const device::Addresses& at, const device::Launch& on) {
                                             loss = Caught([&] {
                                               Bind(at, on);
                                               return model_.Evaluate(batch);
                                             });
                                             return 0;
                                           }});
  if (!status.ok()) return status;
  return loss;
}

}  // namespace rekindle::train
