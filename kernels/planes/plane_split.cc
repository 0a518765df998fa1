#include "kernels/planes/plane_split.h"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "kernels/planes/plane_element.h"
#include "kernels/planes/plane_exceptions.h"
#include "kernels/planes/plane_variants.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {
namespace {

bool IsFinite(uint32_t bits) { return (bits & kMagnitudeMask) < kInfinity32; }

int64_t SplitHalfPlain(const float* x, int64_t n, uint16_t* half, int8_t* exponents, int16_t* residual,
                       uint32_t first_index, PlaneExceptions* exceptions) {
  int64_t nonfinite = 0;
  for (int64_t begin = 0; begin < n; begin += kPlaneBlock) {
    const int64_t end = std::min(n, begin + kPlaneBlock);
    uint32_t largest = 0;
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t bits = FloatBits(x[i]);
      if (IsFinite(bits)) {
        largest = std::max(largest, bits & kMagnitudeMask);
      } else {
        ++nonfinite;
      }
    }
    const int exponent = PlaneExponent(largest);
    exponents[begin / kPlaneBlock] = static_cast<int8_t>(exponent);
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t bits = FloatBits(x[i]);
      half[i] = HalfFromFloat(bits, exponent);
      if (residual == nullptr) continue;
      residual[i] = PlaneResidual(bits, half[i], exponent);
      if (residual[i] == kPlaneException) {
        AddException(first_index + static_cast<uint32_t>(i), bits, *exceptions);
      }
    }
  }
  return nonfinite;
}

void MergeHalfPlain(const uint16_t* half, const int8_t* exponents, const int16_t* residual, int64_t n, float* x) {
  for (int64_t i = 0; i < n; ++i) {
    x[i] = FloatFromBits(HalfJoin(half[i], exponents[i / kPlaneBlock], residual == nullptr ? int16_t{0} : residual[i]));
  }
}

int64_t SplitBf16Plain(const float* x, int64_t n, uint16_t* high, uint16_t* low) {
  int64_t nonfinite = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = FloatBits(x[i]);
    nonfinite += IsFinite(bits) ? 0 : 1;
    high[i] = Bf16High(bits);
    if (low != nullptr) low[i] = Bf16Low(bits);
  }
  return nonfinite;
}

void MergeBf16Plain(const uint16_t* high, const uint16_t* low, int64_t n, float* x) {
  for (int64_t i = 0; i < n; ++i) {
    x[i] = FloatFromBits(Bf16Join(high[i], low == nullptr ? uint16_t{0} : low[i]));
  }
}

void StreamCopyPlain(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

const PlaneVariant& Chosen() {
  static const PlaneVariant& chosen = Avx2Planes() == nullptr ? PlainPlanes() : *Avx2Planes();
  return chosen;
}

}  // namespace

const PlaneVariant& PlainPlanes() {
  static constexpr PlaneVariant kPlain = {SplitHalfPlain, MergeHalfPlain, SplitBf16Plain, MergeBf16Plain,
                                          StreamCopyPlain};
  return kPlain;
}

int64_t SplitHalf(const float* x, int64_t n, uint16_t* half, int8_t* exponent, int16_t* residual, uint32_t first_index,
                  PlaneExceptions* exceptions) {
  return Chosen().split_half(x, n, half, exponent, residual, first_index, exceptions);
}

void MergeHalf(const uint16_t* half, const int8_t* exponent, const int16_t* residual, int64_t n, float* x) {
  Chosen().merge_half(half, exponent, residual, n, x);
}

REKINDLE_CLONES
int64_t CountExceptions(const int16_t* residual, int64_t n) {
  // Exceptions are counted in chunks whose count fits 16 bits. The count of a chunk is then as wide as the residuals,
  // so g++ needs no conversions.
  constexpr int64_t kChunk = 16384;
  int64_t count = 0;
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t end = std::min(n, begin + kChunk);
    int16_t found = 0;
    for (int64_t i = begin; i < end; ++i)
      found = static_cast<int16_t>(found + (residual[i] == kPlaneException ? 1 : 0));
    count += found;
  }
  return count;
}

int64_t SplitBf16(const float* x, int64_t n, uint16_t* high, uint16_t* low) {
  return Chosen().split_bf16(x, n, high, low);
}

void MergeBf16(const uint16_t* high, const uint16_t* low, int64_t n, float* x) { Chosen().merge_bf16(high, low, n, x); }

void StreamFence() {
#ifdef __SSE__
  _mm_sfence();
#endif
}

void StreamCopy(void* to, const void* from, size_t bytes) { Chosen().stream_copy(to, from, bytes); }

}  // namespace rekindle::kernels
