// The environment variables that whoever executes a trainer sets for it, so that the same numbers come out on every
// node: they must be there before LibTorch is loaded. Torch-free.
#ifndef REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_
#define REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

namespace rekindle::models {

// Name and value:
//   ATEN_CPU_CAPABILITY   avx2       ATen's own kernels: the set every supported x86-64 node has
//   ONEDNN_MAX_CPU_ISA    AVX2       oneDNN's
//   MKL_CBWR              AVX2       MKL's: conditional numerical reproducibility
//   OMP_NUM_THREADS, MKL_NUM_THREADS  `threads`: also counted in the result
//   OMP_DYNAMIC, MKL_DYNAMIC  FALSE  never fewer threads than asked for
std::vector<std::pair<std::string, std::string>> PinnedEnvironment(int threads);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_
