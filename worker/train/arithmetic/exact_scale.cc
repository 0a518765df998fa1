#include "worker/train/arithmetic/exact_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rekindle::train {

namespace {

constexpr int kRedoStepLog2 = 16;

int32_t Bounded(int exponent) { return std::clamp<int32_t>(exponent, kMinExponent, kMaxExponent); }

}  // namespace

int LimitLog2(int micro_batches) {
  return 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(micro_batches - 1)));
}

bool Overflows(float maximum, int32_t exponent, int micro_batches) {
  // The limit for |q| is a power of two far above 2^24, so |g * 2^e| > limit and |rint(g * 2^e)| > limit are
  // equivalent.
  return std::ldexp(static_cast<double>(maximum), exponent) > std::ldexp(1.0, LimitLog2(micro_batches));
}

int32_t ExponentFor(float maximum, int micro_batches) {
  // std::frexp sets `log2_above` so that maximum < 2^log2_above.
  int log2_above = 0;
  std::frexp(static_cast<double>(maximum), &log2_above);
  return Bounded(LimitLog2(micro_batches) - kHeadRoomLog2 - log2_above);
}

std::vector<int32_t> NextExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches) {
  std::vector<int32_t> next(exponents.begin(), exponents.end());
  for (size_t i = 0; i < next.size(); ++i) {
    if (maxima[i] > 0) next[i] = ExponentFor(maxima[i], micro_batches);
  }
  return next;
}

std::vector<int> Overflowed(std::span<const int32_t> exponents, std::span<const float> maxima, int micro_batches) {
  std::vector<int> found;
  for (size_t i = 0; i < exponents.size(); ++i) {
    if (Overflows(maxima[i], exponents[i], micro_batches)) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<int32_t> RedoExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches) {
  std::vector<int32_t> redo(exponents.begin(), exponents.end());
  for (int i : Overflowed(exponents, maxima, micro_batches)) {
    redo[i] = std::min(Bounded(redo[i] - kRedoStepLog2), ExponentFor(maxima[i], micro_batches));
  }
  return redo;
}

}  // namespace rekindle::train
