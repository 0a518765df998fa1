#include "worker/models/pinned_environment.h"

namespace rekindle::models {

std::vector<std::pair<std::string, std::string>> PinnedEnvironment(int threads) {
  std::string count = std::to_string(threads);
  return {
      {"ATEN_CPU_CAPABILITY", "avx2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}, {"MKL_CBWR", "AVX2"},
      {"OMP_NUM_THREADS", count},      {"MKL_NUM_THREADS", count},     {"OMP_DYNAMIC", "FALSE"},
      {"MKL_DYNAMIC", "FALSE"},
  };
}

}  // namespace rekindle::models
