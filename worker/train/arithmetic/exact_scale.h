// Chooses the power-of-two scale of each parameter's gradient in exact reduction: q = rint(g * 2^exponent).
//
// Exponents are part of the state. They depend on the reduced maxima of the step before (the largest |g| of any single
// micro-batch), never on the rank layout. A micro-batch overflows when |q| > 2^LimitLog2(M). If none does, the sum of
// all M micro-batches fits int64. The reduced maxima alone decide whether a step overflows, so every rank layout comes
// to the same decision, and the step is redone everywhere with RedoExponents.
//
// The functions are pure and work on integers and powers of two. They use no logarithm, because its last bit could
// differ between machines.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rekindle::train {

// `kInitialExponent` is the exponent of every parameter at step 0. It allows gradients below 2^(LimitLog2(M) - 30),
// which is 2^30 for four micro-batches, and rounds them to multiples of 2^-30 (about 1e-9).
inline constexpr int32_t kInitialExponent = 30;
// The largest gradient may grow by a factor of 2^kHeadRoomLog2 from one step to the next before a step has to be
// redone.
inline constexpr int kHeadRoomLog2 = 8;
// Every exponent stays between `kMinExponent` and `kMaxExponent`, which is a wider range than float32 gradients can
// need.
inline constexpr int32_t kMinExponent = -250;
inline constexpr int32_t kMaxExponent = 250;

// Returns 62 - ceil(log2(micro_batches)), the base-2 logarithm of the largest |q| that a micro-batch may have. The
// caller must pass 1 <= micro_batches <= kMaxMicroBatches.
int LimitLog2(int micro_batches);

// Returns whether a gradient of magnitude `maximum` exceeds the limit 2^LimitLog2(M) when it is scaled by 2^exponent.
// Infinity always does.
bool Overflows(float maximum, int32_t exponent, int micro_batches);

// Returns the highest exponent that leaves a factor of 2^kHeadRoomLog2 between `maximum` and the overflow limit. The
// caller must pass 0 < maximum < infinity.
int32_t ExponentFor(float maximum, int micro_batches);

// Returns the exponents for the step after one without overflow. A parameter whose maximum is zero keeps its exponent.
// The caller must pass spans of equal size and finite maxima.
std::vector<int32_t> NextExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

// Returns the indices of the parameters that overflowed, in ascending order. The step may be applied when the list is
// empty.
std::vector<int> Overflowed(std::span<const int32_t> exponents, std::span<const float> maxima, int micro_batches);

// Returns the exponents for the redone attempt of a step that overflowed. The exponent of a parameter that overflowed
// goes down by 16 or to what its maximum needs, whichever is lower. The other exponents stay. One redone attempt is
// enough, because it repeats the same gradients. The caller must pass finite maxima.
std::vector<int32_t> RedoExponents(std::span<const int32_t> exponents, std::span<const float> maxima,
                                   int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_EXACT_SCALE_H_
