// Decides which GPUs of the machine the worker may use.
#ifndef REKINDLE_WORKER_GPUS_VISIBLE_GPUS_H_
#define REKINDLE_WORKER_GPUS_VISIBLE_GPUS_H_

#include <optional>
#include <string>
#include <vector>

#include "worker/gpus/gpu.h"

namespace rekindle::gpus {

struct VisibleGpus {
  // `gpus` has one entry for each GPU, or part of one, on which CUDA can compute. A broken GPU is in the list with its
  // problem.
  std::vector<Gpu> gpus;
  // `unknown` is the first entry of the variable that names no GPU of this machine. It is empty if there is none.
  std::string unknown;
};

// Returns the GPUs that `variable`, the worker's own CUDA_VISIBLE_DEVICES, selects among `all`. If the variable is not
// set, these are all. An entry is a number in the driver's order, or the UUID or the beginning of the UUID of a GPU or
// of a part. As in CUDA (CUDA C++ Programming Guide, "CUDA Environment Variables"), an entry that names no GPU ends the
// list, and an empty variable selects none.
// REQUIRES: NumbersAreCudas() returns false.
VisibleGpus SelectGpus(const std::vector<Gpu>& all, const std::optional<std::string>& variable);

// Returns whether `variable` counts the GPUs in an order that only CUDA knows. If `order`, the worker's own
// CUDA_DEVICE_ORDER, does not ask for the driver's order, CUDA puts the fastest GPU first where GPUs differ.
bool NumbersAreCudas(const std::vector<Gpu>& all, const std::optional<std::string>& variable, const std::string& order);

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_VISIBLE_GPUS_H_
