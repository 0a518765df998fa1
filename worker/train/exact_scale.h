// The power-of-two scale of each parameter's gradient in exact reduction: q = rint(g * 2^exponent).
//
// Exponents are part of the state. They are functions of the reduced maxima of the step before (largest |g| of any
// single micro-batch), never of the rank layout. A micro-batch overflows when |q| > 2^LimitLog2(M); otherwise the sum
// of all M fits int64. Whether one overflows follows from its maximum alone, so every layout sees the same, and the
// step is redone everywhere with RedoExponents.
//
// Pure functions on integers and powers of two: no logarithm, whose last bit could differ between machines.
#ifndef REKINDLE_WORKER_TRAIN_EXACT_SCALE_H_
#define REKINDLE_WORKER_TRAIN_EXACT_SCALE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rekindle::train {

// At step 0: gradients below 2^(LimitLog2(M) - 30) are fine (2^30 for four micro-batches), down to units of 1e-9 of
// the summed loss.
inline constexpr int32_t kInitialExponent = 30;
// The largest gradient may grow by 2^8 from one step to the next without a redone step.
inline constexpr int kHeadRoomLog2 = 8;
// Bounds of every exponent, wider than float32 gradients can need.
inline constexpr int32_t kMinExponent = -250;
inline constexpr int32_t kMaxExponent = 250;

// 62 - ceil(log2(micro_batches)). Precondition: 1 <= micro_batches <= kMaxMicroBatches.
int LimitLog2(int micro_batches);

// Whether |g| = maximum exceeds the limit. Infinity does.
bool Overflows(float maximum, int32_t exponent, int micro_batches);

// The highest exponent that leaves 2^kHeadRoomLog2 of room above `maximum`. Precondition: 0 < maximum < infinity.
int32_t ExponentFor(float maximum, int micro_batches);

// After a step without overflow. A maximum of zero keeps the exponent. Precondition: equal sizes, finite maxima.
std::vector<int32_t> NextExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

// Indices of the parameters that overflowed, ascending. Empty: the step may be applied.
std::vector<int> Overflowed(std::span<const int32_t> exponents, std::span<const float> maxima, int micro_batches);

// For the redone attempt: those that overflowed go down by 16 or to what their maximum needs, whichever is lower;
// as the attempt repeats the same gradients, one is enough. The others stay. Precondition: finite maxima.
std::vector<int32_t> RedoExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_EXACT_SCALE_H_
