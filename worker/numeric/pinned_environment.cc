#include "worker/numeric/pinned_environment.h"

namespace rekindle::models {

InstructionSet NativeInstructionSet() {
#if defined(__x86_64__)
  // ATen uses its AVX-512 kernels only on a CPU that has avx512f, avx512vl, avx512bw, avx512dq and fma.
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("fma");
  if (avx512) return InstructionSet::kAvx512;
#endif
  return InstructionSet::kAvx2;
}

std::vector<std::pair<std::string, std::string>> PinnedEnvironment(int threads, bool sixteen_bit,
                                                                   InstructionSet instruction_set) {
  bool avx512 = instruction_set == InstructionSet::kAvx512;
  std::string count = std::to_string(threads);
  return {
      {"ATEN_CPU_CAPABILITY", avx512 ? "avx512" : "avx2"},
      {"ONEDNN_MAX_CPU_ISA", !avx512       ? "AVX2"
                             : sixteen_bit ? "AVX512_CORE_AMX"
                                           : "AVX512_CORE"},
      {"MKL_CBWR", avx512 ? "AVX512" : "AVX2"},
      {"OMP_NUM_THREADS", count},
      {"MKL_NUM_THREADS", count},
      {"OMP_DYNAMIC", "FALSE"},
      {"MKL_DYNAMIC", "FALSE"},
  };
}

std::vector<std::string> CpuUnits() {
  std::vector<std::string> units;
#if defined(__x86_64__)
  if (NativeInstructionSet() != InstructionSet::kAvx512) return units;
  units.push_back("avx512");
  if (__builtin_cpu_supports("avx512bf16")) units.push_back("avx512_bf16");
  if (__builtin_cpu_supports("avx512fp16")) units.push_back("avx512_fp16");
  if (__builtin_cpu_supports("amx-bf16")) units.push_back("amx_bf16");
#endif
  return units;
}

}  // namespace rekindle::models
