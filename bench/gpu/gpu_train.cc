// Checks training on a GPU. It compares each model's loss and gradients with the CPU's and measures GPT-2's tokens per
// second.
//
//   rekindle-bench-gpu-train [--device cuda|cpu] [--layers 12 --width 768 ...]
//
// It prints lines of JSON: {"check": name, "ok": bool, "detail": text}, and then {"train": "gpt2", "tokens_per_s":
// number, ...}. Without a GPU it prints {"no_gpu": why} and exits with code 3. The device `cpu` serves to test this
// program.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/time/clock.h"
#include "worker/device/contract/host_access.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/host/host_device.h"
#include "worker/models/registry/model_registry.h"
#include "worker/models/registry/runtime.h"
#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/program/cuda_plugin.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/device_model.h"

namespace rekindle::gpu {
namespace {

using models::ComputeDevice;
using models::ModelSpec;
using train::ComputeType;

constexpr int kNoGpu = 3;
constexpr int kRounds = 7;

struct Options {
  std::string device = "cuda";
  int layers = 12, heads = 12, width = 768, context = 1024, vocabulary = 50257;
  int sequences = 16, micro_batches = 2, threads = 1;
};

void Print(const nlohmann::json& row) {
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
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

train::MicroBatch Samples(int samples, int features, int classes) {
  train::MicroBatch batch{.sequences = samples};
  for (int i = 0; i < samples * features; ++i) batch.features.push_back(std::sin(0.37f * static_cast<float>(i)));
  for (int i = 0; i < samples; ++i) batch.targets.push_back(static_cast<float>(i % classes));
  return batch;
}

struct Outcome {
  double loss = 0;
  std::vector<float> gradient;
};

// Says where a model computes: on a device of the trainer, and on which part of LibTorch.
struct Place {
  std::unique_ptr<device::Device> device;
  ComputeDevice model = ComputeDevice::kCpu;
};

absl::StatusOr<Place> PlaceOf(const std::string& name) {
  if (name != "cuda") return Place{device::MakeHostDevice(), ComputeDevice::kCpuLikeGpu};
  const absl::StatusOr<train::CudaPlugin> plugin = train::LoadCudaPlugin(train::DefaultCudaPluginPath());
  if (!plugin.ok()) return plugin.status();
  if (absl::Status loaded = models::LoadCuda(/*repeatable=*/true); !loaded.ok()) return loaded;
  auto gpu = device::MakeCudaDevice(plugin->api());
  if (!gpu.ok()) return gpu.status();
  return Place{*std::move(gpu), ComputeDevice::kCuda};
}

// Holds a job of one rank, without an engine.
struct Job {
  std::unique_ptr<train::Model> model;
  std::unique_ptr<train::DeviceModel> on_device;
  train::TrainState state;
  std::unique_ptr<train::GradientAccumulator> sums;
};

absl::StatusOr<Job> JobOf(const Place& place, ModelSpec spec, int micro_batches) {
  spec.device = place.model;
  Job job;
  auto model = models::MakeModel(spec);
  if (!model.ok()) return model.status();
  job.model = *std::move(model);
  job.on_device = std::make_unique<train::DeviceModel>(*place.device, *job.model);
  auto state = train::TrainState::Zero(*place.device, job.model->layout());
  if (!state.ok()) return state.status();
  job.state = *std::move(state);
  job.sums = std::make_unique<train::GradientAccumulator>(*place.device, &job.model->layout(),
                                                          train::GradientAccumulator::Mode::kFloat32, micro_batches);
  absl::Status status = job.sums->Allocate();
  if (status.ok()) status = job.on_device->Initialize(1, nullptr, job.state.weights);
  if (!status.ok()) return status;
  return job;
}

absl::Status Queue(Job& job, const train::MicroBatch& batch, int index, int64_t step) {
  const absl::StatusOr<int> slot = job.sums->Open(index);
  if (!slot.ok()) return slot.status();
  job.on_device->Backward(
      job.state.weights, batch, {.seed = 1, .step = step}, 1,
      [&sums = *job.sums, slot = *slot](int p, std::span<const float> g) { sums.Add(slot, p, g); },
      [&sums = *job.sums, slot = *slot](const absl::StatusOr<train::LossSum>& loss) { sums.Close(slot, loss); });
  job.sums->Queued(*slot);
  return absl::OkStatus();
}

absl::StatusOr<Outcome> Compute(const Place& place, const ModelSpec& spec, const train::MicroBatch& batch) {
  absl::StatusOr<Job> job = JobOf(place, spec, 1);
  if (!job.ok()) return job.status();
  job->sums->Begin(0, 0, {});
  absl::Status status = Queue(*job, batch, 0, 0);
  if (status.ok()) status = job->sums->Take(/*wait=*/true);
  Outcome outcome;
  outcome.gradient.resize(static_cast<size_t>(job->model->layout().total));
  if (status.ok()) {
    status = device::ReadToHost(*place.device, device::Queue::kCompute, "gradient", job->sums->sums().all(),
                                std::as_writable_bytes(std::span(outcome.gradient)));
  }
  if (!status.ok()) return status;
  outcome.loss = job->sums->record().MeanLoss();
  return outcome;
}

double Difference(const Outcome& a, const Outcome& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < b.gradient.size(); ++i) {
    difference += std::pow(double{a.gradient[i]} - b.gradient[i], 2);
    norm += std::pow(double{b.gradient[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

// Compares each precision of the device with float32 on the CPU. The CPU's tests show what the precision itself costs.
void CheckPrecision(const Place& place) {
  const Place host{device::MakeHostDevice()};
  const std::vector<std::pair<ModelSpec, train::MicroBatch>> cases = {
      {{.kind = "gpt", .layers = 2, .heads = 2, .width = 64, .context = 32}, Tokens(4, 32, 256)},
      {{.kind = "gpt2", .layers = 2, .heads = 2, .width = 64, .context = 32, .vocabulary = 512}, Tokens(4, 32, 512)},
      {{.kind = "mlp", .layers = 2, .width = 32, .inputs = 8, .classes = 3}, Samples(32, 8, 3)},
      {{.kind = "resnet18", .width = 8, .classes = 10}, Samples(16, 3072, 10)},
  };
  for (const auto& [spec, batch] : cases) {
    const absl::StatusOr<Outcome> expected = Compute(host, spec, batch);
    for (const auto& [compute, name, of_loss, of_gradient] : {std::tuple{ComputeType::kFloat32, "fp32", 1e-4, 5e-3},
                                                              {ComputeType::kBfloat16, "bf16", 0.02, 0.5},
                                                              {ComputeType::kFloat16, "fp16", 0.005, 0.25}}) {
      ModelSpec there = spec;
      there.compute = compute;
      const absl::StatusOr<Outcome> got = Compute(place, there, batch);
      if (!expected.ok() || !got.ok()) {
        Print({{"check", spec.kind + " " + name}, {"ok", false}, {"detail", got.status().ToString()}});
        continue;
      }
      const double loss = std::abs(got->loss / expected->loss - 1), gradient = Difference(*got, *expected);
      const bool ok = loss <= of_loss && gradient <= of_gradient;
      Print({{"check", spec.kind + " " + name},
             {"ok", ok},
             {"detail", "loss differs by " + std::to_string(loss) + ", gradient by " + std::to_string(gradient)}});
    }
  }
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Measures whole steps of one rank as the engine makes them: it sums micro-batches and updates with AdamW. Returns the
// error of the device.
absl::Status MeasureGpt2(const Options& options, const Place& place) {
  const ModelSpec spec{.kind = "gpt2",
                       .layers = options.layers,
                       .heads = options.heads,
                       .width = options.width,
                       .context = options.context,
                       .vocabulary = options.vocabulary,
                       .compute = ComputeType::kBfloat16};
  absl::StatusOr<Job> job = JobOf(place, spec, options.micro_batches);
  if (!job.ok()) return job.status();
  const train::ParameterLayout& layout = job->model->layout();
  const train::MicroBatch batch = Tokens(options.sequences, options.context, options.vocabulary);
  const int64_t tokens = int64_t{options.sequences} * options.context * options.micro_batches;
  std::vector<double> steps, computes;
  absl::Status status;
  for (int round = 0; status.ok() && round < kRounds; ++round) {
    const double start = common::SteadySeconds();
    job->sums->Begin(round, 0, {});
    for (int i = 0; status.ok() && i < options.micro_batches; ++i) status = Queue(*job, batch, i, round);
    status.Update(job->sums->Take(/*wait=*/true));
    computes.push_back(common::SteadySeconds() - start);
    if (status.ok()) {
      status = train::Update(*place.device, layout, job->sums->sums(), tokens, {}, 1e-4, 1.0, &job->state).status();
      status.Update(place.device->Await(place.device->Record(device::Queue::kCompute), nullptr));
      ++job->state.scalars.step;
    }
    steps.push_back(common::SteadySeconds() - start);
  }
  if (!status.ok()) return status;
  Print({{"train", "gpt2"},
         {"parameters", layout.total},
         {"tokens_per_step", tokens},
         {"tokens_per_s", static_cast<double>(tokens) / Median(steps)},
         {"compute_seconds", Median(computes)},
         {"step_seconds", Median(steps)}});
  return absl::OkStatus();
}

int Run(const Options& options) {
  models::PinThreads(options.threads);
  const absl::StatusOr<Place> place = PlaceOf(options.device);
  if (!place.ok()) {
    Print({{"no_gpu", std::string(place.status().message())}});
    return kNoGpu;
  }
  CheckPrecision(*place);
  const absl::Status measured = MeasureGpt2(options, *place);
  if (!measured.ok()) Print({{"check", "gpt2"}, {"ok", false}, {"detail", measured.ToString()}});
  return measured.ok() ? 0 : 1;
}

}  // namespace
}  // namespace rekindle::gpu

int main(int argc, char** argv) {
  CLI::App app("Checks and measures training on this machine's GPU.");
  rekindle::gpu::Options options;
  app.add_option("--device", options.device)->check(CLI::IsMember({"cuda", "cpu"}));
  app.add_option("--layers", options.layers)->check(CLI::Range(1, 96));
  app.add_option("--heads", options.heads)->check(CLI::Range(1, 96));
  app.add_option("--width", options.width)->check(CLI::Range(16, 8192));
  app.add_option("--context", options.context)->check(CLI::Range(8, 8192));
  app.add_option("--vocabulary", options.vocabulary)->check(CLI::Range(16, 65536));
  app.add_option("--sequences", options.sequences, "A micro-batch")->check(CLI::Range(1, 1024));
  app.add_option("--micro-batches", options.micro_batches, "A step")->check(CLI::Range(1, 1024));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  return rekindle::gpu::Run(options);
}
