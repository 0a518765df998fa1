#include "kernels/layers/bfloat16.h"

#include "kernels/vector/bfloat16_element.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

REKINDLE_CLONES
void ToBfloat16(const float* __restrict x, int64_t n, uint16_t* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = common::ToBf16(x[i]);
}

REKINDLE_CLONES
void FromBfloat16(const uint16_t* __restrict x, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = common::FromBf16(x[i]);
}

}  // namespace rekindle::kernels
