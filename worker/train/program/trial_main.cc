#include "worker/train/program/trial_main.h"

#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/connect/listener.h"
#include "worker/contract/out_of_memory.h"
#include "worker/models/declared/compute_device.h"
#include "worker/train/micro_batch/trial.h"
#include "worker/train/program/device_choice.h"
#include "worker/train/program/trainer_parts.h"

namespace rekindle::train {
namespace {

absl::StatusOr<MicroBatchTrial> RefusedIfMemory(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return MicroBatchTrial{.refused = std::string(status.message())};
}

// Runs the trial of one micro-batch size and returns its outcome. The function runs in the process that
// SearchMicroBatchOnDevice started for that size.
absl::StatusOr<MicroBatchTrial> Trial(const Flags& flags, JobRuntime& runtime, TrainerJob job) {
  runtime.Prepare(job.threads);
  const absl::StatusOr<TrainerDevice> device = runtime.OpenDevice(flags, &job);
  if (!device.ok()) return device.status();
  // The process that has started this trial kills it where the search is cancelled.
  auto model = runtime.OpenModel(flags, job, {});
  if (!model.ok()) return model.status();
  auto data = OpenJobData(flags, runtime, job);
  if (!data.ok()) return data.status();
  auto listener = comm::Listener::Create("127.0.0.1:0", job.secret);
  if (!listener.ok()) return listener.status();
  const bool on_gpu = job.model.device == models::ComputeDevice::kCuda;
  const models::GpuMemory before = on_gpu ? runtime.MemoryOfGpu() : models::GpuMemory();
  const auto seconds =
      SecondsOfTrial(*device->device, job.spec, **model, *data->batches, ConnectOver(**listener, **model),
                     [&](const device::Health& health) { EndWithFailedDevice(flags, health); });
  if (!seconds.ok()) return RefusedIfMemory(seconds.status());
  const double total = static_cast<double>((*model)->layout().total);
  // A trial takes no checkpoints, so what they need is added. A snapshot has the weights and two moments.
  constexpr double kSnapshotBytes = 3 * sizeof(float);
  const double snapshot = job.store.empty() ? 0 : kSnapshotBytes * total;
  if (on_gpu) {
    // What was in use before, such as the contexts of processes, is shared by all trainers on the GPU, and this
    // trainer's part of it is its share of the memory.
    const double part = flags.device_memory > 0 ? flags.device_memory / before.total : 1;
    const double own = runtime.MemoryOfGpu().peak + static_cast<double>(device->device->Allocated().peak);
    return MicroBatchTrial{.bytes = own + snapshot + part * before.used, .seconds = *seconds};
  }
  // Up to two checkpoints are under way in shared memory.
  return MicroBatchTrial{.bytes = PeakBytes() + 2 * snapshot, .seconds = *seconds};
}

}  // namespace

int TryMicroBatch(const Flags& flags, JobRuntime& runtime) {
  // The driver of a GPU reserves more addresses than the machine has memory, so they cannot be limited.
  if (flags.device == kCudaDevice) {
    VolunteerToBeKilled();
  } else {
    GuardMemory(flags.memory);
  }
  absl::StatusOr<MicroBatchTrial> trial = absl::UnknownError("");
  try {
    const auto job = LoadJob(flags, flags.try_micro_batch);
    trial = job.ok() ? Trial(flags, runtime, *job) : job.status();
  } catch (const std::exception& error) {
    trial = RefusedIfMemory(FromException(error));
  }
  std::ofstream(flags.result) << ToJson(trial);
  return 0;
}

}  // namespace rekindle::train
