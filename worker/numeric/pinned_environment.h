// Builds the environment variables that are set for a trainer process, so that the same numbers come out on every node.
// They must be set before LibTorch is loaded. This file does not use torch.
#ifndef REKINDLE_WORKER_NUMERIC_PINNED_ENVIRONMENT_H_
#define REKINDLE_WORKER_NUMERIC_PINNED_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

namespace rekindle::models {

// Names the instruction sets that a trainer can use. Results differ between the sets (and, in 16 bits, between the
// units that CpuUnits() lists), so all nodes of a job need the same one. AVX-512 is at least 1.3 times as fast as AVX2.
enum class InstructionSet { kAvx2, kAvx512 };

// Returns the best instruction set of this machine.
InstructionSet NativeInstructionSet();

// Returns the names and values of the environment variables that pin a trainer's arithmetic. The last column says what
// each of them does.
//   ATEN_CPU_CAPABILITY               avx2 or avx512        selects ATen's own kernels.
//   ONEDNN_MAX_CPU_ISA                AVX2 or AVX512_CORE   limits oneDNN (AVX512_CORE_AMX with `sixteen_bit`).
//   MKL_CBWR                          AVX2 or AVX512        makes MKL's results reproducible (conditional mode).
//   OMP_NUM_THREADS, MKL_NUM_THREADS  `threads`             is set because the number affects the result, too.
//   OMP_DYNAMIC, MKL_DYNAMIC          FALSE                 forbids fewer threads than requested.
std::vector<std::pair<std::string, std::string>> PinnedEnvironment(
    int threads, bool sixteen_bit = false, InstructionSet instruction_set = NativeInstructionSet());

// Returns which of the units avx512_bf16, avx512_fp16 and amx_bf16, which compute in 16 bits, this CPU has. The name
// avx512 comes first. The list is empty on a CPU without AVX-512.
std::vector<std::string> CpuUnits();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_NUMERIC_PINNED_ENVIRONMENT_H_
