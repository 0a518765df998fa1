// Checks training on a GPU. It compares each model's loss and gradients with the CPU's and measures GPT-2's tokens per
// second.
//
//   rekindle-bench-gpu-train [--device cuda|copies] [--layers 12 --width 768 ...]
//
// It prints lines of JSON: {"check": name, "ok": bool, "detail": text}, and then {"train": "gpt2", "tokens_per_s":
// number, ...}. Without a GPU it prints {"no_gpu": why} and exits with code 3. The device `copies` is the CPU with the
// copies that a GPU needs, which serves to test this program.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/time/clock.h"
#include "worker/device/host/host_device.h"
#include "worker/models/registry/model_registry.h"
#include "worker/models/registry/runtime.h"
#include "worker/train/arithmetic/accumulator.h"
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

Outcome Compute(const ModelSpec& spec, const train::MicroBatch& batch) {
  auto model = models::MakeModel(spec);
  if (!model.ok()) return {};
  const train::ParameterLayout& layout = (*model)->layout();
  const std::unique_ptr<device::Device> host = device::MakeHostDevice();
  train::DeviceModel on_host(*host, **model);
  const auto state = train::TrainState::Zero(*host, layout, 0);
  if (!state.ok() || !on_host.Initialize(1, nullptr, state->weights).ok()) return {};
  on_host.TakeWeights(state->weights);
  Outcome outcome;
  outcome.gradient.resize(static_cast<size_t>(layout.total));
  const auto sink = [&](int parameter, std::span<const float> values) {
    std::copy(values.begin(), values.end(),
              outcome.gradient.begin() + layout.parameters[static_cast<size_t>(parameter)].offset);
  };
  on_host.Backward(state->weights, batch, {}, 1, sink,
                   [&](const absl::StatusOr<train::LossSum>& loss) { outcome.loss = loss.ok() ? loss->sum : NAN; });
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
void CheckPrecision(ComputeDevice device) {
  const std::vector<std::pair<ModelSpec, train::MicroBatch>> cases = {
      {{.kind = "gpt", .layers = 2, .heads = 2, .width = 64, .context = 32}, Tokens(4, 32, 256)},
      {{.kind = "gpt2", .layers = 2, .heads = 2, .width = 64, .context = 32, .vocabulary = 512}, Tokens(4, 32, 512)},
      {{.kind = "mlp", .layers = 2, .width = 32, .inputs = 8, .classes = 3}, Samples(32, 8, 3)},
      {{.kind = "resnet18", .width = 8, .classes = 10}, Samples(16, 3072, 10)},
  };
  for (const auto& [spec, batch] : cases) {
    const Outcome expected = Compute(spec, batch);
    for (const auto& [compute, name, of_loss, of_gradient] : {std::tuple{ComputeType::kFloat32, "fp32", 1e-4, 5e-3},
                                                              {ComputeType::kBfloat16, "bf16", 0.02, 0.5},
                                                              {ComputeType::kFloat16, "fp16", 0.005, 0.25}}) {
      ModelSpec there = spec;
      there.compute = compute;
      there.device = device;
      const Outcome got = Compute(there, batch);
      const double loss = std::abs(got.loss / expected.loss - 1), gradient = Difference(got, expected);
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

// Measures whole steps of one rank as the engine makes them: it copies the weights to the device, sums micro-batches,
// and updates with AdamW.
int MeasureGpt2(const Options& options, ComputeDevice device) {
  const ModelSpec spec{.kind = "gpt2",
                       .layers = options.layers,
                       .heads = options.heads,
                       .width = options.width,
                       .context = options.context,
                       .vocabulary = options.vocabulary,
                       .compute = ComputeType::kBfloat16,
                       .device = device};
  auto model = models::MakeModel(spec);
  if (!model.ok()) return Print({{"check", "gpt2"}, {"ok", false}, {"detail", model.status().ToString()}}), 1;
  const train::ParameterLayout& layout = (*model)->layout();
  const std::unique_ptr<device::Device> host = device::MakeHostDevice();
  train::DeviceModel on_host(*host, **model);
  auto state = train::TrainState::Zero(*host, layout);
  train::GradientAccumulator sums(*host, &layout, train::GradientAccumulator::Mode::kFloat32, options.micro_batches);
  absl::Status status = state.status();
  status.Update(sums.Allocate());
  if (status.ok()) status = on_host.Initialize(1, nullptr, state->weights);
  const train::MicroBatch batch = Tokens(options.sequences, options.context, options.vocabulary);
  const int64_t tokens = int64_t{options.sequences} * options.context * options.micro_batches;
  std::vector<double> steps, computes;
  for (int round = 0; status.ok() && round < kRounds; ++round) {
    const double start = common::SteadySeconds();
    on_host.TakeWeights(state->weights);
    sums.Begin(round, 0, {});
    for (int i = 0; status.ok() && i < options.micro_batches; ++i) {
      const absl::StatusOr<int> slot = sums.Open(i);
      if (!slot.ok()) return Print({{"check", "gpt2"}, {"ok", false}, {"detail", slot.status().ToString()}}), 1;
      on_host.Backward(
          state->weights, batch, {.seed = 1, .step = round}, 1,
          [&](int p, std::span<const float> g) { sums.Add(*slot, p, g); },
          [&](const absl::StatusOr<train::LossSum>& loss) { sums.Close(*slot, loss); });
      sums.Queued(*slot);
      status = sums.Take(/*wait=*/true);
    }
    computes.push_back(common::SteadySeconds() - start);
    if (status.ok()) {
      status = train::Update(*host, layout, sums.sums(), tokens, {}, 1e-4, 1.0, &*state).status();
      ++state->scalars.step;
    }
    steps.push_back(common::SteadySeconds() - start);
  }
  if (!status.ok()) return Print({{"check", "gpt2"}, {"ok", false}, {"detail", status.ToString()}}), 1;
  Print({{"train", "gpt2"},
         {"parameters", layout.total},
         {"tokens_per_step", tokens},
         {"tokens_per_s", static_cast<double>(tokens) / Median(steps)},
         {"compute_seconds", Median(computes)},
         {"step_seconds", Median(steps)}});
  return 0;
}

int Run(const Options& options) {
  models::PinThreads(options.threads);
  const ComputeDevice device = options.device == "cuda" ? ComputeDevice::kCuda : ComputeDevice::kCpuCopies;
  if (device == ComputeDevice::kCuda) {
    if (const absl::Status loaded = models::LoadCuda(/*repeatable=*/true); !loaded.ok()) {
      Print({{"no_gpu", std::string(loaded.message())}});
      return kNoGpu;
    }
  }
  CheckPrecision(device);
  return MeasureGpt2(options, device);
}

}  // namespace
}  // namespace rekindle::gpu

int main(int argc, char** argv) {
  CLI::App app("Checks and measures training on this machine's GPU.");
  rekindle::gpu::Options options;
  app.add_option("--device", options.device)->check(CLI::IsMember({"cuda", "copies"}));
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
