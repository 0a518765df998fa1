#include "kernels/layers/gelu.h"

#include "kernels/vector/vector_math.h"

namespace rekindle::kernels {
namespace {

struct ValueAndSlope {
  Floats value, slope;
};

REKINDLE_VECTOR_INLINE ValueAndSlope Gelu(Floats x) {
  // `kScale` is 2 sqrt(2 / pi), a factor in the exponent of GELU's formula.
  constexpr float kScale = 1.5957691216f;
  constexpr float kCubic = 0.044715f;
  // The clamp keeps infinity * 0 out of the formulas. GELU's slope reaches its limits well within the bounds of the
  // clamp.
  Floats v = Clamp(x, -20.0f, 20.0f);
  Floats vv = v * v;
  Floats s = 1.0f / (1.0f + Exp(-kScale * v * (1.0f + kCubic * vv)));
  return {x * s, s + v * s * (1.0f - s) * kScale * (1.0f + 3 * kCubic * vv)};
}

}  // namespace

REKINDLE_VECTOR_CLONES
void GeluForward(const float* x, int64_t n, float* out, float* slope) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    ValueAndSlope g = Gelu(Load(x + i));
    Store(g.value, out + i);
    Store(g.slope, slope + i);
  }
  ValueAndSlope g = Gelu(LoadSome(x + i, n - i, 0));
  StoreSome(g.value, n - i, out + i);
  StoreSome(g.slope, n - i, slope + i);
}

REKINDLE_VECTOR_CLONES
void GeluBackward(const float* __restrict dy, const float* __restrict slope, int64_t n, float* __restrict dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * slope[i];
}

}  // namespace rekindle::kernels
