// Dynamic loss scaling for FP16 (Micikevicius et al., 2018): the summed loss is multiplied by a power of two before
// backward, so that small gradients do not vanish in 16 bits; the accumulator takes it out again, without rounding.
// An attempt whose gradients overflowed on any rank is thrown away everywhere and redone at half the scale; after
// kGrowthInterval steps without one the scale doubles. Pure: the scale is part of the state and depends on agreed
// flags only, never on ranks or clocks.
#ifndef REKINDLE_WORKER_TRAIN_LOSS_SCALE_H_
#define REKINDLE_WORKER_TRAIN_LOSS_SCALE_H_

#include <cstdint>
#include <optional>

#include "worker/train/spec.h"

namespace rekindle::train {

// Part of StateScalars.
struct LossScale {
  int32_t log2 = 0;        // The summed loss of a micro-batch is multiplied by 2^log2.
  int32_t good_steps = 0;  // Applied in a row since the scale changed.
  int64_t skipped = 0;     // Attempts thrown away since the job began.

  bool operator==(const LossScale&) const = default;
};

class LossScaler {
 public:
  static constexpr int kGrowthInterval = 2000;  // Steps; PyTorch's.
  static constexpr int kInitialLog2 = 16;       // On the mean loss of a micro-batch; PyTorch's.
  static constexpr int kMaximumLog2 = 32;       // On the mean loss.
  static constexpr int kMinimumLog2 = 0;        // On the mean loss; an overflow there is the model's own.

  // `micro_batch_tokens`: how many a loss sums, > 0. Precisions but FP16 have the constant scale 1.
  LossScaler(ComputeType compute, int64_t micro_batch_tokens);

  LossScale Initial() const;
  // After a step that was applied.
  LossScale Applied(LossScale scale) const;
  // After an attempt whose gradients were not finite. Empty: the scale is not to blame.
  std::optional<LossScale> Overflowed(LossScale scale) const;

 private:
  const bool dynamic_;
  const int32_t mean_log2_;  // Of the scale that makes a sum a mean: about -log2(tokens).
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LOSS_SCALE_H_
