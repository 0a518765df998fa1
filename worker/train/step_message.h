// What each rank tells all others once a step, in one all-gather of a fixed size: where it stands, the exact sums of
// its micro-batches, its share of a due evaluation, what the step cost it, whether it was asked to yield, and its
// checkpoint shards.
// Every rank combines all messages and so takes the same decisions.
#ifndef REKINDLE_WORKER_TRAIN_STEP_MESSAGE_H_
#define REKINDLE_WORKER_TRAIN_STEP_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "worker/train/step_cost.h"
#include "worker/train/step_record.h"

namespace rekindle::train {

struct StepMessage {
  int64_t step = 0;
  int64_t attempt = 0;
  bool yield = false;
  bool yield_with_checkpoint = false;
  bool lease_holds = false;  // As it is sent: this rank may step.
  StepRecord record;
  StepRecord evaluation;  // Of this rank's share of the validation micro-batches; no maxima.
  StepCost cost;
  int64_t committed_step = -1;    // Of the newest checkpoint this rank knows to be durable.
  bool begin_checkpoint = false;  // Of the state after this step. Rank 0's counts: it decides for all.
  int64_t checkpoint_step = 0;    // Of the shards below.
  std::vector<checkpoint::ShardRef> shards;
};

// The layout's sizes are the same on all ranks of a generation.
struct StepMessageLayout {
  int parameters = 0;
  int shards = 0;  // The most that one rank owns.

  size_t bytes() const;
};

// Precondition: at most layout.shards shards, layout.parameters entries in the record.
std::vector<uint8_t> Encode(const StepMessage& message, const StepMessageLayout& layout);
// INVALID_ARGUMENT on a wrong size or malformed field.
absl::StatusOr<StepMessage> Decode(std::span<const uint8_t> bytes, const StepMessageLayout& layout);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_MESSAGE_H_
