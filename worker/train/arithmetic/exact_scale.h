// Chooses the power-of-two scale of each parameter's gradient in exact reduction: q = rint(g * 2^exponent).
//
// Exponents are part of the state. They depend on the reduced maxima of the step before (the largest |g| of any single
// micro-batch), never on the rank layout. A micro-batch overflows when |q| > 2^LimitLog2(M). Otherwise the sum of all M
// micro-batches fits int64. Its maximum alone decides whether a micro-batch overflows, so every layout sees the same,
// and the step is redone everywhere with RedoExponents.
//
// These are pure functions on integers and powers of two. They use no logarithm, because its last bit could differ
// between machines.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rekindle::train {

// This is the exponent at step 0. It allows gradients below 2^(LimitLog2(M) - 30), which is 2^30 for four
// micro-batches, down to units of 1e-9 of the summed loss.
inline constexpr int32_t kInitialExponent = 30;
// The largest gradient may grow by 2^8 from one step to the next without a redone step.
inline constexpr int kHeadRoomLog2 = 8;
// Every exponent stays within these bounds, which are wider than float32 gradients can need.
inline constexpr int32_t kMinExponent = -250;
inline constexpr int32_t kMaxExponent = 250;

// Returns 62 - ceil(log2(micro_batches)). The caller must pass 1 <= micro_batches <= kMaxMicroBatches.
int LimitLog2(int micro_batches);

// Returns whether a gradient of magnitude `maximum` exceeds the limit. Infinity always does.
bool Overflows(float maximum, int32_t exponent, int micro_batches);

// Returns the highest exponent that leaves 2^kHeadRoomLog2 of room above `maximum`. The caller must pass 0 < maximum <
// infinity.
int32_t ExponentFor(float maximum, int micro_batches);

// Returns the exponents for the step after one without overflow. A maximum of zero keeps the exponent. The caller must
// pass spans of equal size and finite maxima.
std::vector<int32_t> NextExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

// Returns the indices of the parameters that overflowed, in ascending order. The step may be applied when the list is
// empty.
std::vector<int> Overflowed(std::span<const int32_t> exponents, std::span<const float> maxima, int micro_batches);

// Returns the exponents for the redone attempt. Those that overflowed go down by 16 or to what their maximum needs,
// whichever is lower. The others stay. One redone attempt is enough, because it repeats the same gradients. The caller
// must pass finite maxima.
std::vector<int32_t> RedoExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_
