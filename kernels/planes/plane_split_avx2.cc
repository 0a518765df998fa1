// Implements plane_split.h with AVX2 and F16C. Scaling by a power of two is exact wherever the result is not zero in
// FP16, and the conversions ignore the thread's rounding and denormal modes. So the bits are those of plane_element.h.
#include "kernels/planes/plane_variants.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(REKINDLE_NO_CLONES)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernels/planes/plane_element.h"
#include "kernels/planes/plane_exceptions.h"

#define REKINDLE_AVX2 __attribute__((target("avx2,f16c")))
#define REKINDLE_AVX2_INLINE inline __attribute__((target("avx2,f16c"), always_inline))

namespace rekindle::kernels {
namespace {

constexpr int64_t kVector = 8, kStep = 2 * kVector;

REKINDLE_AVX2_INLINE __m256i Load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
REKINDLE_AVX2_INLINE __m128i LoadHalf(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
REKINDLE_AVX2_INLINE void Store(void* to, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(to), value); }

// The hardware prefetcher starts again in each page. So the code itself prefetches lines that are `kAheadOfFloats` or
// `kAheadOfHalves` bytes ahead. A prefetch of memory behind an array is harmless: it neither reads that memory nor
// faults it in.
constexpr uintptr_t kAheadOfFloats = 2048, kAheadOfHalves = 1024;
REKINDLE_AVX2_INLINE void Prefetch(const void* at, uintptr_t bytes_ahead) {
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(at) + bytes_ahead), _MM_HINT_T0);
}

template <bool kStream>
REKINDLE_AVX2_INLINE void StoreFloats(float* to, __m256i bits) {
  if constexpr (kStream) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), bits);
  } else {
    Store(to, bits);
  }
}

// The packing instructions of AVX2 work within 128 bits, so the quarters of their result have to be put back in order.
REKINDLE_AVX2_INLINE __m256i InOrder(__m256i packed) { return _mm256_permute4x64_epi64(packed, 0xd8); }

REKINDLE_AVX2_INLINE int64_t SumOfLanes(__m256i lanes) {
  alignas(32) int32_t lane[kVector];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lane), lanes);
  int64_t sum = 0;
  for (int32_t value : lane) sum += value;
  return sum;
}

struct Extent {
  // `largest` is the largest magnitude of the finite elements.
  uint32_t largest = 0;
  int64_t nonfinite = 0;
};

REKINDLE_AVX2 Extent Measure(const float* x, int64_t n) {
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(kMagnitudeMask));
  const __m256i last_finite = _mm256_set1_epi32(static_cast<int>(kInfinity32 - 1));
  __m256i largest = _mm256_setzero_si256(), minus_count = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + kVector <= n; i += kVector) {
    Prefetch(x + i, kAheadOfFloats);
    const __m256i magnitude = _mm256_and_si256(Load(x + i), mask);
    const __m256i beyond = _mm256_cmpgt_epi32(magnitude, last_finite);
    largest = _mm256_max_epi32(largest, _mm256_andnot_si256(beyond, magnitude));
    minus_count = _mm256_add_epi32(minus_count, beyond);
  }
  alignas(32) uint32_t lane[kVector];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lane), largest);
  Extent extent{.largest = *std::max_element(lane, lane + kVector), .nonfinite = -SumOfLanes(minus_count)};
  for (; i < n; ++i) {
    const uint32_t magnitude = FloatBits(x[i]) & kMagnitudeMask;
    if (magnitude < kInfinity32) {
      extent.largest = std::max(extent.largest, magnitude);
    } else {
      ++extent.nonfinite;
    }
  }
  return extent;
}

struct Scale {
  REKINDLE_AVX2_INLINE explicit Scale(int exponent)
      : down(_mm256_set1_ps(FloatFromBits(static_cast<uint32_t>(127 - exponent) << 23))),
        up(_mm256_set1_ps(FloatFromBits(static_cast<uint32_t>(127 + exponent) << 23))) {}
  const __m256 down, up;
};

REKINDLE_AVX2_INLINE __m128i ToHalf(__m256i bits, const Scale& scale) {
  return _mm256_cvtps_ph(_mm256_mul_ps(_mm256_castsi256_ps(bits), scale.down),
                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
REKINDLE_AVX2_INLINE __m256i FromHalf(__m128i half, const Scale& scale) {
  return _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtph_ps(half), scale.up));
}

// Computes the residuals of [begin, end) again one by one, and records the exceptions among them. It is called for
// steps of the vector loop with an exception, which are rare, and for the elements after the last whole step.
void FindExceptions(const float* x, int64_t begin, int64_t end, const uint16_t* half, int exponent, int16_t* residual,
                    uint32_t first_index, PlaneExceptions& exceptions) {
  for (int64_t i = begin; i < end; ++i) {
    residual[i] = PlaneResidual(FloatBits(x[i]), half[i], exponent);
    if (residual[i] == kPlaneException)
      AddException(first_index + static_cast<uint32_t>(i), FloatBits(x[i]), exceptions);
  }
}

template <bool kResidual>
REKINDLE_AVX2 void SplitHalfBlock(const float* x, int64_t n, uint16_t* half, int exponent, int16_t* residual,
                                  uint32_t first_index, PlaneExceptions* exceptions) {
  const Scale scale(exponent);
  const __m256i most = _mm256_set1_epi32(32767);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const __m256i x0 = Load(x + i), x1 = Load(x + i + kVector);
    const __m128i half0 = ToHalf(x0, scale), half1 = ToHalf(x1, scale);
    Store(half + i, _mm256_set_m128i(half1, half0));
    if constexpr (kResidual) {
      const __m256i rest0 = _mm256_sub_epi32(x0, FromHalf(half0, scale));
      const __m256i rest1 = _mm256_sub_epi32(x1, FromHalf(half1, scale));
      Store(residual + i, InOrder(_mm256_packs_epi32(rest0, rest1)));
      const __m256i size = _mm256_max_epu32(_mm256_abs_epi32(rest0), _mm256_abs_epi32(rest1));
      if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(size, most)) != 0) [[unlikely]] {
        FindExceptions(x, i, i + kStep, half, exponent, residual, first_index, *exceptions);
      }
    }
  }
  for (int64_t rest = i; rest < n; ++rest) half[rest] = HalfFromFloat(FloatBits(x[rest]), exponent);
  if constexpr (kResidual) FindExceptions(x, i, n, half, exponent, residual, first_index, *exceptions);
}

int64_t SplitHalfAvx2(const float* x, int64_t n, uint16_t* half, int8_t* exponents, int16_t* residual,
                      uint32_t first_index, PlaneExceptions* exceptions) {
  int64_t nonfinite = 0;
  for (int64_t begin = 0; begin < n; begin += kPlaneBlock) {
    const int64_t block = std::min(kPlaneBlock, n - begin);
    const Extent extent = Measure(x + begin, block);
    const int exponent = PlaneExponent(extent.largest);
    exponents[begin / kPlaneBlock] = static_cast<int8_t>(exponent);
    nonfinite += extent.nonfinite;
    if (residual == nullptr) {
      SplitHalfBlock<false>(x + begin, block, half + begin, exponent, nullptr, 0, nullptr);
    } else {
      SplitHalfBlock<true>(x + begin, block, half + begin, exponent, residual + begin,
                           first_index + static_cast<uint32_t>(begin), exceptions);
    }
  }
  return nonfinite;
}

template <bool kResidual, bool kStream>
REKINDLE_AVX2 void MergeHalfBlocks(const uint16_t* half, const int8_t* exponents, const int16_t* residual, int64_t n,
                                   float* x) {
  for (int64_t begin = 0; begin < n; begin += kPlaneBlock) {
    const int64_t end = std::min(n, begin + kPlaneBlock);
    const int exponent = exponents[begin / kPlaneBlock];
    const Scale scale(exponent);
    int64_t i = begin;
    for (; i + kVector <= end; i += kVector) {
      Prefetch(half + i, kAheadOfHalves);
      if constexpr (kResidual) Prefetch(residual + i, kAheadOfHalves);
      __m256i bits = FromHalf(LoadHalf(half + i), scale);
      if constexpr (kResidual) bits = _mm256_add_epi32(bits, _mm256_cvtepi16_epi32(LoadHalf(residual + i)));
      StoreFloats<kStream>(x + i, bits);
    }
    for (; i < end; ++i) x[i] = FloatFromBits(HalfJoin(half[i], exponent, kResidual ? residual[i] : int16_t{0}));
  }
  if constexpr (kStream) _mm_sfence();
}

// Returns whether whole vectors can be written to memory without going through the cache, which needs aligned memory.
// The memory of every tensor is aligned.
bool IsAligned(const void* to) { return reinterpret_cast<uintptr_t>(to) % sizeof(__m256i) == 0; }

void MergeHalfAvx2(const uint16_t* half, const int8_t* exponents, const int16_t* residual, int64_t n, float* x) {
  if (IsAligned(x)) {
    (residual == nullptr ? MergeHalfBlocks<false, true> : MergeHalfBlocks<true, true>)(half, exponents, residual, n, x);
  } else {
    (residual == nullptr ? MergeHalfBlocks<false, false> : MergeHalfBlocks<true, false>)(half, exponents, residual, n,
                                                                                         x);
  }
}

template <bool kLow>
REKINDLE_AVX2 int64_t SplitBf16Vectors(const float* x, int64_t n, uint16_t* high, uint16_t* low) {
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(kMagnitudeMask));
  const __m256i last_finite = _mm256_set1_epi32(static_cast<int>(kInfinity32 - 1));
  const __m256i round = _mm256_set1_epi32(0x8000), low_mask = _mm256_set1_epi32(0xffff);
  __m256i minus_count = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Prefetch(x + i, kAheadOfFloats);
    const __m256i x0 = Load(x + i), x1 = Load(x + i + kVector);
    const __m256i high0 = _mm256_srli_epi32(_mm256_add_epi32(x0, round), 16);
    const __m256i high1 = _mm256_srli_epi32(_mm256_add_epi32(x1, round), 16);
    Store(high + i, InOrder(_mm256_packus_epi32(high0, high1)));
    if constexpr (kLow) {
      Store(low + i, InOrder(_mm256_packus_epi32(_mm256_and_si256(x0, low_mask), _mm256_and_si256(x1, low_mask))));
    }
    const __m256i beyond0 = _mm256_cmpgt_epi32(_mm256_and_si256(x0, mask), last_finite);
    const __m256i beyond1 = _mm256_cmpgt_epi32(_mm256_and_si256(x1, mask), last_finite);
    minus_count = _mm256_add_epi32(minus_count, _mm256_add_epi32(beyond0, beyond1));
  }
  const int64_t rest = PlainPlanes().split_bf16(x + i, n - i, high + i, kLow ? low + i : nullptr);
  return rest - SumOfLanes(minus_count);
}

int64_t SplitBf16Avx2(const float* x, int64_t n, uint16_t* high, uint16_t* low) {
  return low == nullptr ? SplitBf16Vectors<false>(x, n, high, low) : SplitBf16Vectors<true>(x, n, high, low);
}

template <bool kLow, bool kStream>
REKINDLE_AVX2 void MergeBf16Vectors(const uint16_t* high, const uint16_t* low, int64_t n, float* x) {
  int64_t i = 0;
  for (; i + kVector <= n; i += kVector) {
    Prefetch(high + i, kAheadOfHalves);
    if constexpr (kLow) Prefetch(low + i, kAheadOfHalves);
    __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(LoadHalf(high + i)), 16);
    if constexpr (kLow) bits = _mm256_add_epi32(bits, _mm256_cvtepi16_epi32(LoadHalf(low + i)));
    StoreFloats<kStream>(x + i, bits);
  }
  if constexpr (kStream) _mm_sfence();
  PlainPlanes().merge_bf16(high + i, kLow ? low + i : nullptr, n - i, x + i);
}

void MergeBf16Avx2(const uint16_t* high, const uint16_t* low, int64_t n, float* x) {
  if (IsAligned(x)) {
    (low == nullptr ? MergeBf16Vectors<false, true> : MergeBf16Vectors<true, true>)(high, low, n, x);
  } else {
    (low == nullptr ? MergeBf16Vectors<false, false> : MergeBf16Vectors<true, false>)(high, low, n, x);
  }
}

REKINDLE_AVX2 void StreamCopyAvx2(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(out) % sizeof(__m256i));
  std::memcpy(out, in, head);
  size_t done = head;
  for (; done + sizeof(__m256i) <= bytes; done += sizeof(__m256i)) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + done), Load(in + done));
  }
  std::memcpy(out + done, in + done, bytes - done);
}

}  // namespace

const PlaneVariant* Avx2Planes() {
  static constexpr PlaneVariant kAvx2 = {SplitHalfAvx2, MergeHalfAvx2, SplitBf16Avx2, MergeBf16Avx2, StreamCopyAvx2};
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? &kAvx2 : nullptr;
}

}  // namespace rekindle::kernels

#else

namespace rekindle::kernels {

const PlaneVariant* Avx2Planes() { return nullptr; }

}  // namespace rekindle::kernels

#endif
