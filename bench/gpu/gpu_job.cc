#include "bench/gpu/gpu_job.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "worker/device/cuda/cuda_device.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/host/host_device.h"
#include "worker/models/declared/compute_device.h"
#include "worker/models/registry/model_registry.h"
#include "worker/train/program/cuda_plugin.h"
#include "worker/train/state/optimizer.h"

namespace rekindle::gpu {

using models::ComputeDevice;

void Print(const nlohmann::json& row) {
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
}

void PrintRow(const char* name, double value) { Print({{"row", name}, {"value", value}}); }

absl::StatusOr<Place> PlaceOf(const std::string& name) {
  if (name == "cpu") return Place{device::MakeHostDevice(), ComputeDevice::kCpuLikeGpu};
  if (name == "fake") {
    return Place{device::MakeFakeDevice({.seed = 1,
                                         .on_report =
                                             [](const std::string& report) {
                                               std::fprintf(stderr, "%s\n", report.c_str());
                                               std::abort();
                                             }}),
                 ComputeDevice::kCpuLikeGpu};
  }
  const absl::StatusOr<train::CudaPlugin> plugin = train::LoadCudaPlugin(train::DefaultCudaPluginPath());
  if (!plugin.ok()) return plugin.status();
  if (absl::Status loaded = models::LoadCuda(/*repeatable=*/true); !loaded.ok()) return loaded;
  auto gpu = device::MakeCudaDevice(plugin->api());
  if (!gpu.ok()) return gpu.status();
  return Place{*std::move(gpu), ComputeDevice::kCuda};
}

models::ModelSpec Gpt2Of(const Options& options) {
  return {.kind = "gpt2",
          .layers = options.layers,
          .heads = options.heads,
          .width = options.width,
          .context = options.context,
          .vocabulary = options.vocabulary,
          .compute = train::ComputeType::kBfloat16};
}

train::MicroBatch Tokens(int sequences, int context, int vocabulary) {
  train::MicroBatch batch{.sequences = sequences, .context = context};
  uint32_t state = 1;
  for (int64_t i = 0; i < int64_t{sequences} * (context + 1); ++i) {
    state = state * 1664525 + 1013904223;
    batch.tokens.push_back(static_cast<uint16_t>((state >> 8) % static_cast<uint32_t>(vocabulary)));
  }
  return batch;
}

train::MicroBatch BatchOf(const Options& options) {
  return Tokens(options.sequences, options.context, options.vocabulary);
}

absl::StatusOr<Job> JobOf(const Place& place, models::ModelSpec spec, train::GradientAccumulator::Mode mode,
                          int micro_batches) {
  spec.device = place.model;
  Job job;
  auto model = models::MakeModel(spec);
  if (!model.ok()) return model.status();
  job.model = *std::move(model);
  const train::ParameterLayout& layout = job.model->layout();
  job.on_device = std::make_unique<train::DeviceModel>(*place.device, *job.model);
  auto state = train::TrainState::Zero(*place.device, layout);
  if (!state.ok()) return state.status();
  job.state = *std::move(state);
  // The gradients of a new model are far below 2^20, and those that matter far above 2^-20.
  constexpr int kExponent = 20;
  job.state.scalars.exponents.assign(layout.parameters.size(), kExponent);
  job.sums = std::make_unique<train::GradientAccumulator>(*place.device, &layout, mode, micro_batches);
  absl::Status status = job.sums->Allocate();
  if (status.ok()) status = job.on_device->Initialize(1, nullptr, job.state.weights);
  if (!status.ok()) return status;
  return job;
}

absl::Status QueueMicroBatch(Job& job, const train::MicroBatch& batch, int index) {
  const absl::StatusOr<int> slot = job.sums->Open(index);
  if (!slot.ok()) return slot.status();
  job.on_device->Backward(
      job.state.weights, batch, {.seed = 1, .step = job.state.scalars.step}, 1,
      [&sums = *job.sums, slot = *slot](int p, std::span<const float> g) { sums.Add(slot, p, g); },
      [&sums = *job.sums, slot = *slot](const absl::StatusOr<train::LossSum>& loss) { sums.Close(slot, loss); });
  job.sums->Queued(*slot);
  return absl::OkStatus();
}

absl::Status ComputeStep(Job& job, const train::MicroBatch& batch, int micro_batches) {
  job.sums->Begin(job.state.scalars.step, 0, job.state.scalars.exponents);
  absl::Status status;
  for (int i = 0; status.ok() && i < micro_batches; ++i) status = QueueMicroBatch(job, batch, i);
  status.Update(job.sums->Take(/*wait=*/true));
  return status;
}

absl::Status UpdateWeights(const Place& place, Job& job, int64_t tokens) {
  absl::Status status =
      train::Update(*place.device, job.model->layout(), job.sums->sums(), tokens, {}, 1e-4, 1.0, &job.state).status();
  if (status.ok()) status = place.device->Await(place.device->Record(device::Queue::kCompute), nullptr);
  ++job.state.scalars.step;
  return status;
}

}  // namespace rekindle::gpu
