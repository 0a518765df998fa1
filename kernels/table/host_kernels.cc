#include "kernels/table/host_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/layers/bfloat16.h"
#include "kernels/planes/plane_split.h"
#include "kernels/sums/accumulate.h"
#include "kernels/sums/fixed_point.h"
#include "kernels/sums/running_mean.h"
#include "kernels/sums/sum_of_squares.h"
#include "kernels/sums/word_hash.h"

namespace rekindle::kernels {
namespace {

void Copy(const RekindleCopy& a) {
  if (a.bytes > 0) std::memcpy(a.to, a.from, a.bytes);
}
void Fill(const RekindleFill& a) {
  if (a.bytes > 0) std::memset(a.memory, a.byte, a.bytes);
}

void Accumulate(const RekindleAccumulate& a) {
  const auto n = static_cast<int64_t>(a.n);
  const float largest = a.fixed != nullptr ? AccumulateFixed(a.gradient, n, a.exponent, a.first != 0, a.fixed)
                                           : AccumulateFloat(a.gradient, n, a.factor, a.first != 0, a.sum);
  *a.largest = std::max(*a.largest, std::bit_cast<uint32_t>(largest));
}

void Squares(const RekindleSquares& a) {
  for (size_t i = 0; i < a.n_pieces; ++i) {
    const auto& [offset, count] = a.pieces[i];
    const int64_t at = offset - a.origin;
    a.squares[i] = a.fixed != nullptr ? SumOfSquares(a.fixed + at, count) : SumOfSquares(a.values + at, count);
  }
}

void RunningMean(const RekindleRunningMean& a) {
  const auto n = static_cast<int64_t>(a.n);
  if (a.fixed != nullptr) {
    MoveMean(a.fixed, a.unit, n, a.count, a.rate, a.mean);
  } else {
    MoveMean(a.values, n, a.count, a.rate, a.mean);
  }
}

void ToBf16(const RekindleToBf16& a) { ToBfloat16(a.values, static_cast<int64_t>(a.n), a.bf16); }
void FromBf16(const RekindleFromBf16& a) { FromBfloat16(a.bf16, static_cast<int64_t>(a.n), a.values); }
void Hash(const RekindleHash& a) { *a.hash += HashOfWords(a.words, static_cast<int64_t>(a.n), a.first); }

void Split(const RekindleSplitHalf& a) {
  const auto n = static_cast<int64_t>(a.n);
  PlaneExceptions found;
  if (a.residual != nullptr) {
    const uint32_t before = std::min(*a.exceptions, a.capacity);
    found = {.index = a.index + before, .bits = a.bits + before, .capacity = a.capacity - before};
  }
  *a.nonfinite += static_cast<uint64_t>(SplitHalf(a.x, n, a.half, a.exponent, a.residual, /*first_index=*/0, &found));
  if (a.residual != nullptr) *a.exceptions += static_cast<uint32_t>(found.count);
}
void Merge(const RekindleMergeHalf& a) { MergeHalf(a.half, a.exponent, a.residual, static_cast<int64_t>(a.n), a.x); }
void Split(const RekindleSplitBf16& a) {
  *a.nonfinite += static_cast<uint64_t>(SplitBf16(a.x, static_cast<int64_t>(a.n), a.high, a.low));
}
void Merge(const RekindleMergeBf16& a) { MergeBf16(a.high, a.low, static_cast<int64_t>(a.n), a.x); }

template <typename Arguments, void (*kCompute)(const Arguments&)>
int Entry(const Arguments* arguments, void*, char*, size_t) {
  kCompute(*arguments);
  return 0;
}

}  // namespace

const RekindleKernels& HostKernels() {
  static constexpr RekindleKernels kKernels = {.copy = &Entry<RekindleCopy, &Copy>,
                                               .fill = &Entry<RekindleFill, &Fill>,
                                               .accumulate = &Entry<RekindleAccumulate, &Accumulate>,
                                               .squares = &Entry<RekindleSquares, &Squares>,
                                               .update = &Entry<RekindleUpdate, &Update>,
                                               .running_mean = &Entry<RekindleRunningMean, &RunningMean>,
                                               .to_bf16 = &Entry<RekindleToBf16, &ToBf16>,
                                               .from_bf16 = &Entry<RekindleFromBf16, &FromBf16>,
                                               .hash = &Entry<RekindleHash, &Hash>,
                                               .dropout_mask = &Entry<RekindleDropoutMask, &FillDropoutMask>,
                                               .split_half = &Entry<RekindleSplitHalf, &Split>,
                                               .merge_half = &Entry<RekindleMergeHalf, &Merge>,
                                               .split_bf16 = &Entry<RekindleSplitBf16, &Split>,
                                               .merge_bf16 = &Entry<RekindleMergeBf16, &Merge>};
  return kKernels;
}

}  // namespace rekindle::kernels
