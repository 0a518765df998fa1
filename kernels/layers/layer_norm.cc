#include "kernels/layers/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/vector/vector_math.h"

namespace rekindle::kernels {
namespace {

// Calls body(index of the first element, number of elements) for each vector of a row. The last one may be partial.
template <typename Body>
REKINDLE_VECTOR_INLINE void EachVector(int64_t width, Body body) {
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) body(i, kLanes);
  if (i < width) body(i, width - i);
}

REKINDLE_VECTOR_INLINE Floats Read(const float* from, int64_t count) {
  return count == kLanes ? Load(from) : LoadSome(from, count, 0);
}
REKINDLE_VECTOR_INLINE void Write(Floats v, int64_t count, float* to) {
  count == kLanes ? Store(v, to) : StoreSome(v, count, to);
}

}  // namespace

REKINDLE_VECTOR_CLONES
void LayerNormForward(const float* x, int64_t rows, int64_t width, const float* weight, const float* bias,
                      float epsilon, float* y, float* mean, float* inverse) {
  const float share = 1.0f / static_cast<float>(width);
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * width;
    float* out = y + r * width;
    Floats sum = {}, squares = {};
    EachVector(
        width, [&](int64_t i, int64_t n) __attribute__((always_inline)) { sum += Read(row + i, n); });
    const float m = SumOf(sum) * share;
    EachVector(
        width, [&](int64_t i, int64_t n) __attribute__((always_inline)) {
          const Floats d = (n == kLanes ? Load(row + i) : LoadSome(row + i, n, m)) - m;
          squares += d * d;
        });
    const float inv = 1.0f / std::sqrt(SumOf(squares) * share + epsilon);
    EachVector(
        width, [&](int64_t i, int64_t n) __attribute__((always_inline)) {
          Write((Read(row + i, n) - m) * inv * Read(weight + i, n) + Read(bias + i, n), n, out + i);
        });
    mean[r] = m;
    inverse[r] = inv;
  }
}

REKINDLE_VECTOR_CLONES
void LayerNormBackward(const float* dy, const float* x, const float* mean, const float* inverse, int64_t rows,
                       int64_t width, const float* weight, float* dx, float* dweight, float* dbias) {
  const float share = 1.0f / static_cast<float>(width);
  std::fill(dweight, dweight + width, 0.0f);
  std::fill(dbias, dbias + width, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float* up = dy + r * width;
    const float* row = x + r * width;
    float* out = dx + r * width;
    const float m = mean[r], inv = inverse[r];
    Floats of_g = {}, of_gx = {};
    EachVector(
        width, [&](int64_t i, int64_t n) __attribute__((always_inline)) {
          const Floats d = Read(up + i, n), hat = (Read(row + i, n) - m) * inv, g = d * Read(weight + i, n);
          of_g += g;
          of_gx += g * hat;
          Write(Read(dweight + i, n) + d * hat, n, dweight + i);
          Write(Read(dbias + i, n) + d, n, dbias + i);
        });
    const float mean_g = SumOf(of_g) * share, mean_gx = SumOf(of_gx) * share;
    EachVector(
        width, [&](int64_t i, int64_t n) __attribute__((always_inline)) {
          const Floats hat = (Read(row + i, n) - m) * inv, g = Read(up + i, n) * Read(weight + i, n);
          Write((g - mean_g - hat * mean_gx) * inv, n, out + i);
        });
  }
}

}  // namespace rekindle::kernels
