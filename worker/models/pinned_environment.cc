#include "worker/models/pinned_environment.h"

namespace rekindle::models {

InstructionSet NativeInstructionSet() {
#if defined(__x86_64__)
  // What ATen asks for before it takes its AVX-512 kernels.
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("fma");
  if (avx512) return InstructionSet::kAvx512;
#endif
  return InstructionSet::kAvx2;
}

std::vector<std::pair<std::string, std::string>> PinnedEnvironment(int threads, InstructionSet instruction_set) {
  bool avx512 = instruction_set == InstructionSet::kAvx512;
  std::string count = std::to_string(threads);
  return {
      {"ATEN_CPU_CAPABILITY", avx512 ? "avx512" : "avx2"},
      {"ONEDNN_MAX_CPU_ISA", avx512 ? "AVX512_CORE" : "AVX2"},
      {"MKL_CBWR", avx512 ? "AVX512" : "AVX2"},
      {"OMP_NUM_THREADS", count},
      {"MKL_NUM_THREADS", count},
      {"OMP_DYNAMIC", "FALSE"},
      {"MKL_DYNAMIC", "FALSE"},
  };
}

}  // namespace rekindle::models
