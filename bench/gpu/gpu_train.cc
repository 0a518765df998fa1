// Checks training on a GPU. It compares each model's loss and gradients with the CPU's, and measures GPT-2: tokens per
// second, repeatable bits, memory, and the speed with snapshots.
//
//   rekindle-bench-gpu-train [--device cuda|fake|cpu] [--layers 12 --width 768 ...]
//
// It prints lines of JSON (gpu_job.h), among them {"train": "gpt2", "tokens_per_s": number, ...}. Without a GPU it
// prints {"no_gpu": why} and exits with code 3. The devices `fake` and `cpu` serve to test this program.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu/gpu_job.h"
#include "common/time/clock.h"
#include "worker/device/contract/host_access.h"
#include "worker/device/host/host_device.h"
#include "worker/models/registry/numeric_runtime.h"
#include "worker/train/arithmetic/median.h"

namespace rekindle::gpu {
namespace {

using models::ModelSpec;
using train::ComputeType;
using train::GradientAccumulator;

constexpr int kNoGpu = 3;
constexpr int kRounds = 7;

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

absl::StatusOr<Outcome> Compute(const Place& place, const ModelSpec& spec, const train::MicroBatch& batch) {
  absl::StatusOr<Job> job = JobOf(place, spec, GradientAccumulator::Mode::kFloat32, 1);
  if (!job.ok()) return job.status();
  absl::Status status = ComputeStep(*job, batch, 1);
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

// Measures whole steps of one rank as the engine makes them: it sums micro-batches and updates with AdamW.
absl::Status MeasureGpt2(const Options& options, const Place& place) {
  absl::StatusOr<Job> job = JobOf(place, Gpt2Of(options), GradientAccumulator::Mode::kFloat32, options.micro_batches);
  if (!job.ok()) return job.status();
  const train::MicroBatch batch = BatchOf(options);
  const int64_t tokens = int64_t{options.sequences} * options.context * options.micro_batches;
  std::vector<double> steps, passes;
  absl::Status status;
  for (int round = 0; status.ok() && round < kRounds; ++round) {
    // Passes whose gradients nobody adds up show what forward and backward alone take.
    const double begin = common::SteadySeconds();
    for (int i = 0; i < options.micro_batches; ++i) {
      job->on_device->Backward(
          job->state.weights, batch, {.seed = 1, .step = round}, 1, [](int, std::span<const float>) {},
          [](const absl::StatusOr<train::LossSum>&) {});
    }
    status = place.device->Await(place.device->Record(device::Queue::kCompute), nullptr);
    const double start = common::SteadySeconds();
    if (status.ok()) status = ComputeStep(*job, batch, options.micro_batches);
    if (status.ok()) status = UpdateWeights(place, *job, tokens);
    passes.push_back(start - begin);
    steps.push_back(common::SteadySeconds() - start);
  }
  if (!status.ok()) return status;
  Print({{"train", "gpt2"},
         {"parameters", job->model->layout().total},
         {"tokens_per_step", tokens},
         {"tokens_per_s", static_cast<double>(tokens) / train::Median(steps)},
         {"passes_seconds", train::Median(passes)},
         {"step_seconds", train::Median(steps)}});
  return absl::OkStatus();
}

// Returns the seconds since this process was started.
double Age() {
  std::ifstream stat("/proc/self/stat");
  std::stringstream text;
  text << stat.rdbuf();
  // The name of the program, which is in brackets, may have blanks. The time of the start is the 20th word behind it.
  std::istringstream words(text.str().substr(text.str().rfind(')') + 1));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  return common::BootSeconds() - std::stod(word) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int Run(const Options& options) {
  models::PinThreads(options.threads);
  const absl::StatusOr<Place> place = PlaceOf(options.device);
  if (!place.ok()) {
    Print({{"no_gpu", std::string(place.status().message())}});
    return kNoGpu;
  }
  PrintRow("ready_seconds", Age());
  CheckPrecision(*place);
  bool all = true;
  for (const auto& [name, measure] : {std::pair{"gpt2", &MeasureGpt2},
                                      {"repeats", &CheckRepeats},
                                      {"memory", &MeasureMemory},
                                      {"snapshots", &MeasureSnapshots}}) {
    const absl::Status measured = measure(options, *place);
    if (measured.ok()) continue;
    Print({{"check", name}, {"ok", false}, {"detail", measured.ToString()}});
    all = false;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace rekindle::gpu

int main(int argc, char** argv) {
  CLI::App app("Checks and measures training on this machine's GPU.");
  rekindle::gpu::Options options;
  app.add_option("--device", options.device)->check(CLI::IsMember({"cuda", "fake", "cpu"}));
  app.add_option("--layers", options.layers)->check(CLI::Range(1, 96));
  app.add_option("--heads", options.heads)->check(CLI::Range(1, 96));
  app.add_option("--width", options.width)->check(CLI::Range(16, 8192));
  app.add_option("--context", options.context)->check(CLI::Range(8, 8192));
  app.add_option("--vocabulary", options.vocabulary)->check(CLI::Range(16, 65536));
  app.add_option("--sequences", options.sequences, "A micro-batch")->check(CLI::Range(1, 1024));
  app.add_option("--micro-batches", options.micro_batches, "A step")->check(CLI::Range(1, 1024));
  app.add_option("--repeats", options.repeats, "Of a micro-batch")->check(CLI::Range(1, 10000));
  app.add_option("--steps", options.steps, "That must not need more memory")->check(CLI::Range(1, 100000));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  return rekindle::gpu::Run(options);
}
