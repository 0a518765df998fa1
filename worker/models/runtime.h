// The numeric runtime of a process: how many threads, and a probe of what its arithmetic gives. Torch-free header.
#ifndef REKINDLE_WORKER_MODELS_RUNTIME_H_
#define REKINDLE_WORKER_MODELS_RUNTIME_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/models/registry.h"

namespace rekindle::models {

// Call once, before anything else of this folder. `threads` compute threads a process; denormals are kept.
// Also tells malloc to keep freed memory, which a training loop asks for again at once.
// The instruction set is pinned before the process starts: see pinned_environment.h.
void PinThreads(int threads);

// Digest (XXH3-128, hex) of the loss and all gradients of a fixed micro-batch on the fixed initial weights of one
// layer of the job's model: two processes that present the same one compute alike. The matrices have the job's sizes,
// since kernels are chosen by size; context and sequences shrink where more than 100 ms of work would result.
// Also warms LibTorch up. Error: INVALID_ARGUMENT as MakeModel.
absl::StatusOr<std::string> ProbeDigest(const ModelSpec& spec, int sequences);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_RUNTIME_H_
