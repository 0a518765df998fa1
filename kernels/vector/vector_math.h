// Provides vectors of floats for kernels that g++ does not vectorise well by itself, compiled for several instruction
// sets. With -ffp-contract=off and reductions in a fixed order, every clone gives the same bits.
#ifndef REKINDLE_KERNELS_VECTOR_VECTOR_MATH_H_
#define REKINDLE_KERNELS_VECTOR_VECTOR_MATH_H_

#include <bit>
#include <cstdint>

// Builds with sanitizers define REKINDLE_NO_CLONES, because sanitizers instrument the loader's resolver before their
// runtime is up.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(REKINDLE_NO_CLONES)
#define REKINDLE_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define REKINDLE_VECTOR_CLONES
#endif

#define REKINDLE_VECTOR_INLINE inline __attribute__((always_inline))

namespace rekindle::kernels {

// A vector has sixteen floats, and g++ cuts it into vectors of the instruction set. The vectors are explicit because
// g++'s own vectoriser computes with masked lanes in which denormals occur, at a hundred cycles each.
constexpr int kLanes = 16;
using Floats [[gnu::vector_size(64)]] = float;
using Ints [[gnu::vector_size(64)]] = int32_t;

REKINDLE_VECTOR_INLINE Floats Load(const float* from) {
  Floats v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
REKINDLE_VECTOR_INLINE void Store(Floats v, float* to) { __builtin_memcpy(to, &v, sizeof(v)); }

// Loads the first `count` lanes. The other lanes are `fill`.
REKINDLE_VECTOR_INLINE Floats LoadSome(const float* from, int64_t count, float fill) {
  Floats v = Floats{} + fill;
  for (int64_t i = 0; i < count; ++i) v[i] = from[i];
  return v;
}
REKINDLE_VECTOR_INLINE void StoreSome(Floats v, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = v[i];
}

// Returns x limited to [least, most]. NaN becomes `least`.
REKINDLE_VECTOR_INLINE Floats Clamp(Floats x, float least, float most) {
  Floats low = Floats{} + least, high = Floats{} + most;
  x = x > low ? x : low;
  return x < high ? x : high;
}

// Returns the sum of the lanes, added in a fixed order.
REKINDLE_VECTOR_INLINE float SumOf(Floats lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// Returns e^x for x in [-87, 88], with a relative error below 3e-7. Arguments outside, NaN too, are limited to that
// range.
REKINDLE_VECTOR_INLINE Floats Exp(Floats x) {
  // `kRound` is 1.5 * 2^23. Adding it to a float rounds that to an integer.
  constexpr float kRound = 12582912.0f;
  constexpr float kLn2High = 0.693145751953125f, kLn2Low = 1.42860677e-6f;
  x = Clamp(x, -87.0f, 88.0f);
  Floats shifted = x * 1.44269504f + kRound;
  Floats n = shifted - kRound;
  // `r` is x - n ln(2), where n is the integer nearest to x / ln(2). So |r| is at most ln(2) / 2, where Taylor's series
  // of e^r leaves an error of 5e-9.
  Floats r = x - n * kLn2High - n * kLn2Low;
  Floats p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // The low bits of `shifted` are the integer n in two's complement. The shift moves them to the place of a float's
  // exponent, which makes the float 2^n.
  return p * std::bit_cast<Floats>((std::bit_cast<Ints>(shifted) << 23) + 0x3F800000);
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_VECTOR_VECTOR_MATH_H_
