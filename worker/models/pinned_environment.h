// The environment variables that whoever executes a trainer sets for it, so that the same numbers come out on every
// node. They must be there before LibTorch is loaded. Torch-free.
#ifndef REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_
#define REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

namespace rekindle::models {

// Results differ between sets (and, in 16 bits, between the units below), so all nodes of a job need the same. AVX-512
// is 1.3 times as fast or more (README.md).
enum class InstructionSet { kAvx2, kAvx512 };

// The best that this machine has.
InstructionSet NativeInstructionSet();

// Name and value:
//   ATEN_CPU_CAPABILITY               avx2 or avx512        ATen's own kernels
//   ONEDNN_MAX_CPU_ISA                AVX2 or AVX512_CORE   oneDNN's; AVX512_CORE_AMX with `sixteen_bit`
//   MKL_CBWR                          AVX2 or AVX512        MKL's (conditional numerical reproducibility)
//   OMP_NUM_THREADS, MKL_NUM_THREADS  `threads`             part of the result, too
//   OMP_DYNAMIC, MKL_DYNAMIC          FALSE                 never fewer threads than asked for
std::vector<std::pair<std::string, std::string>> PinnedEnvironment(
    int threads, bool sixteen_bit = false, InstructionSet instruction_set = NativeInstructionSet());

// The units for 16 bits that this CPU has, of avx512_bf16, avx512_fp16 and amx_bf16; avx512 itself first.
std::vector<std::string> CpuUnits();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_PINNED_ENVIRONMENT_H_
