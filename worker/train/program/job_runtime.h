// Declares what a program of trainers brings to a job: the device, the model and the data. rekindle-trainer computes
// the models that come with Rekindle, by LibTorch, and rekindle-own-trainer those of users, in a process beside it.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_JOB_RUNTIME_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_JOB_RUNTIME_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/data/kinds/data_spec.h"
#include "worker/models/declared/compute_device.h"
#include "worker/train/program/device_choice.h"
#include "worker/train/program/trainer_flags.h"
#include "worker/train/sessions/job_file.h"

namespace rekindle::train {

// What a runtime asks the trainer, and tells it, while the model is opened and as long as it lives.
struct ModelHooks {
  // `go_on` returns false if the trainer has to end.
  std::function<bool()> go_on;
  // `note` is told what the model does beside its work, or with an empty text that it works. Only the thread that uses
  // the model calls it.
  std::function<void(const std::string& text)> note;
};

// The calls come in the order in which they are declared, except that OpenData() may come again with another size of
// the micro-batches. A JobRuntime must outlive all that it makes, and is thread-compatible.
class JobRuntime {
 public:
  virtual ~JobRuntime() = default;

  // Returns the name of the program.
  virtual const char* program() const = 0;
  // Prepares this process for a job with `threads` threads.
  virtual void Prepare(int threads) = 0;
  // Makes the device as ChooseDevice() does.
  virtual absl::StatusOr<TrainerDevice> OpenDevice(const Flags& flags, TrainerJob* job) = 0;
  // Opens the model of the job. Returns INVALID_ARGUMENT if the job is at fault, CANCELLED soon after `hooks.go_on`
  // returns false, and any other error if another trainer may succeed. The hooks must outlive the model.
  virtual absl::StatusOr<std::unique_ptr<Model>> OpenModel(const Flags& flags, const TrainerJob& job,
                                                           const ModelHooks& hooks) = 0;
  virtual absl::StatusOr<data::OpenedData> OpenData(const Flags& flags, const TrainerJob& job) = 0;
  // Returns how much of the GPU's memory is in use, and the most that the model has used beside the state.
  virtual models::GpuMemory MemoryOfGpu() = 0;
  // Returns a digest of what the job's arithmetic computes here. Trainers with the same digest compute the same bits.
  virtual absl::StatusOr<std::string> Probe(const TrainerJob& job) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_JOB_RUNTIME_H_
