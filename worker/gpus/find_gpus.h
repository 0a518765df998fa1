// Finds the GPUs that this worker may use, in a way that a broken driver cannot stop the worker.
#ifndef REKINDLE_WORKER_GPUS_FIND_GPUS_H_
#define REKINDLE_WORKER_GPUS_FIND_GPUS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/gpus/gpu.h"

namespace rekindle::gpus {

// Returns the GPUs that the environment variable CUDA_VISIBLE_DEVICES leaves to this process. They come from NVML or,
// if the machine has no NVML, from the CUDA driver. Returns NOT_FOUND if the machine has no driver or no GPU, and
// FAILED_PRECONDITION with the driver's words if the driver does not work. The call may block for as long as the driver
// does.
absl::StatusOr<std::vector<Gpu>> AskDriver();

// Runs the command `rekindle-worker gpus`, which prints what AskDriver returns as JSON. Returns the exit code of the
// process.
int RunListGpus();

// Runs `program gpus` and returns the GPUs that it prints, or none if the machine has none. The driver may hang or
// crash, so it is asked in a process of its own. Returns FAILED_PRECONDITION, in the driver's words where it has any,
// if the driver does not answer within kDriverSeconds or does not work. This call blocks.
absl::StatusOr<std::vector<Gpu>> FindGpus(const std::string& program);
// A driver that has to start many GPUs may take most of `kDriverSeconds` to answer.
inline constexpr double kDriverSeconds = 30;

// Returns the JSON text {"gpus": [...], "problem": "..."} of what AskDriver returned. A machine without a driver is one
// without GPUs.
std::string ToJson(const absl::StatusOr<std::vector<Gpu>>& gpus);
// Parses what ToJson has made. Entries of another form are left out.
absl::StatusOr<std::vector<Gpu>> GpusFromJson(const std::string& json);

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_FIND_GPUS_H_
