#include "worker/train/arithmetic/loss_scale.h"

#include <bit>

namespace rekindle::train {

LossScaler::LossScaler(ComputeType compute, int64_t micro_batch_tokens)
    : dynamic_(compute == ComputeType::kFloat16),
      mean_log2_(-static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(micro_batch_tokens - 1)))) {}

LossScale LossScaler::Initial() const { return {.log2 = dynamic_ ? mean_log2_ + kInitialLog2 : 0}; }

LossScale LossScaler::Applied(LossScale scale) const {
  if (!dynamic_ || ++scale.good_steps < kGrowthInterval) return scale;
  scale.good_steps = 0;
  if (scale.log2 < mean_log2_ + kMaximumLog2) ++scale.log2;
  return scale;
}

std::optional<LossScale> LossScaler::Overflowed(LossScale scale) const {
  if (!dynamic_ || scale.log2 <= mean_log2_ + kMinimumLog2) return std::nullopt;
  return LossScale{.log2 = scale.log2 - 1, .good_steps = 0, .skipped = scale.skipped + 1};
}

}  // namespace rekindle::train
