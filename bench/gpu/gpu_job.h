// Offers the parts of a GPU check that train: a job of one rank, without an engine, on a device of the trainer.
//
// Each line of output is JSON: {"check": name, "ok": bool, "detail": text}, or {"row": name, "value": number}.
#ifndef REKINDLE_BENCH_GPU_GPU_JOB_H_
#define REKINDLE_BENCH_GPU_GPU_JOB_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/models/declared/model_spec.h"
#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/device_model.h"

namespace rekindle::gpu {

struct Options {
  std::string device = "cuda";
  int layers = 12, heads = 12, width = 768, context = 1024, vocabulary = 50257;
  int sequences = 16, micro_batches = 2, threads = 1;
  // `repeats` is how often a micro-batch is repeated, and `steps` how many steps must not need more memory.
  int repeats = 100, steps = 200;
};

void Print(const nlohmann::json& row);
void PrintRow(const char* name, double value);

// Says where a model computes: on a device of the trainer, and on which part of LibTorch.
struct Place {
  std::unique_ptr<device::Device> device;
  models::ComputeDevice model = models::ComputeDevice::kCpu;
};
// Makes the device "cuda", "fake" or "cpu".
absl::StatusOr<Place> PlaceOf(const std::string& name);

// Returns the GPT-2 of the options in BF16.
models::ModelSpec Gpt2Of(const Options& options);
// Returns micro-batches of tokens that are the same in every call.
train::MicroBatch Tokens(int sequences, int context, int vocabulary);
train::MicroBatch BatchOf(const Options& options);

struct Job {
  std::unique_ptr<train::Model> model;
  std::unique_ptr<train::DeviceModel> on_device;
  train::TrainState state;
  std::unique_ptr<train::GradientAccumulator> sums;
};
// Returns a job with initial weights. `place` must outlive it.
absl::StatusOr<Job> JobOf(const Place& place, models::ModelSpec spec, train::GradientAccumulator::Mode mode,
                          int micro_batches);
// Queues a micro-batch of a step for which the sums have begun.
absl::Status QueueMicroBatch(Job& job, const train::MicroBatch& batch, int index);
// Computes the micro-batches of the next step.
absl::Status ComputeStep(Job& job, const train::MicroBatch& batch, int micro_batches);
// Updates the weights with AdamW, and waits until that is done. `tokens` counts those of the step.
absl::Status UpdateWeights(const Place& place, Job& job, int64_t tokens);

// CheckRepeats() counts the micro-batches that give the same bits again in exact mode. MeasureMemory() prints what the
// state takes on the device and how much more it is after many steps. MeasureSnapshots() prints the speed of steps with
// a snapshot after each of them, beside that without.
absl::Status CheckRepeats(const Options& options, const Place& place);
absl::Status MeasureMemory(const Options& options, const Place& place);
absl::Status MeasureSnapshots(const Options& options, const Place& place);

}  // namespace rekindle::gpu

#endif  // REKINDLE_BENCH_GPU_GPU_JOB_H_
