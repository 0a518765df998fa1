#include "kernels/layers/dropout_mask.h"

#include "kernels/vector/splitmix64.h"

namespace rekindle::kernels {

RekindleDropoutMask DropoutMaskOf(uint64_t key, double drop, size_t n, float* mask) {
  return {.key = key,
          .threshold = static_cast<uint32_t>(drop * 4294967296.0),
          .kept = static_cast<float>(1 / (1 - drop)),
          .n = n,
          .mask = mask};
}

void FillDropoutMask(const RekindleDropoutMask& arguments) {
  const auto& [key, threshold, kept, n, mask] = arguments;
  for (size_t i = 0; i + 1 < n; i += 2) {
    const uint64_t bits = RandomWord(key, i / 2);
    mask[i] = static_cast<uint32_t>(bits) < threshold ? 0.0f : kept;
    mask[i + 1] = static_cast<uint32_t>(bits >> 32) < threshold ? 0.0f : kept;
  }
  if (n % 2 != 0) mask[n - 1] = static_cast<uint32_t>(RandomWord(key, n / 2)) < threshold ? 0.0f : kept;
}

}  // namespace rekindle::kernels
