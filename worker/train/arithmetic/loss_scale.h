// Implements dynamic loss scaling for FP16 (Micikevicius et al., 2018). The summed loss is multiplied by a power of two
// before backward, so that small gradients do not vanish in 16 bits. The accumulator removes the factor again without
// rounding. An attempt whose gradients overflowed on any rank is thrown away everywhere and redone at half the scale.
// After kGrowthInterval steps without an overflow the scale doubles. The functions are pure: the scale is part of the
// state and depends on agreed flags only, never on ranks or clocks.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_LOSS_SCALE_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_LOSS_SCALE_H_

#include <cstdint>
#include <optional>

#include "worker/contract/spec.h"

namespace rekindle::train {

// Holds the loss scale, which is a part of StateScalars.
struct LossScale {
  // The summed loss of a micro-batch is multiplied by 2^log2.
  int32_t log2 = 0;
  // `good_steps` counts the steps applied in a row since the scale changed.
  int32_t good_steps = 0;
  // `skipped` counts the attempts that were thrown away since the job began, because their gradients overflowed.
  int64_t skipped = 0;

  bool operator==(const LossScale&) const = default;
};

class LossScaler {
 public:
  // `kGrowthInterval` is a number of steps. It and `kInitialLog2` have PyTorch's values. Each `k...Log2` is the base-2
  // logarithm of a scale of a micro-batch's mean loss. If gradients overflow even at `kMinimumLog2`, the cause is the
  // model and not the scale.
  static constexpr int kGrowthInterval = 2000;
  static constexpr int kInitialLog2 = 16;
  static constexpr int kMaximumLog2 = 32;
  static constexpr int kMinimumLog2 = 0;

  // `micro_batch_tokens` is the number of tokens that the loss of a micro-batch sums over, and it is above 0. Every
  // precision except FP16 has the constant loss scale 1.
  LossScaler(ComputeType compute, int64_t micro_batch_tokens);

  LossScale Initial() const;
  // Returns the loss scale after a step that was applied.
  LossScale Applied(LossScale scale) const;
  // Returns the loss scale after an attempt whose gradients were not finite. Returns nullopt if the scale is constant
  // or is already the lowest one.
  std::optional<LossScale> Overflowed(LossScale scale) const;

 private:
  const bool dynamic_;
  // `mean_log2_` is the exponent of the scale that turns the summed loss of a micro-batch into its mean, which is about
  // -log2(tokens).
  const int32_t mean_log2_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_LOSS_SCALE_H_
