// Sets up the numeric runtime of a process: pins the number of threads, and probes the results of the arithmetic. This
// header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_REGISTRY_NUMERIC_RUNTIME_H_
#define REKINDLE_WORKER_MODELS_REGISTRY_NUMERIC_RUNTIME_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/models/registry/model_registry.h"

namespace rekindle::models {

// Sets the number of compute threads of the process, and lets arithmetic keep denormals. PinThreads() must be called
// once, before any other function of worker/models/registry. It also makes malloc keep freed memory, because a training
// loop soon allocates it again. The instruction set is pinned before the process starts (see pinned_environment.h).
void PinThreads(int threads);

// Returns a digest (XXH3-128, hex) of the loss and all gradients of a fixed micro-batch on the fixed initial weights of
// one layer of the job's model. Two processes with the same digest compute the same bits. The matrices have the job's
// sizes, because kernels are chosen by size. The context is shorter and the sequences are fewer where the forward and
// backward would take much longer than 50 ms. The call also warms LibTorch up. Returns INVALID_ARGUMENT as MakeModel
// does.
absl::StatusOr<std::string> ProbeDigest(const ModelSpec& spec, int sequences);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_REGISTRY_NUMERIC_RUNTIME_H_
