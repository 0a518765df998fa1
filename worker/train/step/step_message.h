// Declares the message that each rank sends to all others once a step, in one all-gather of a fixed size. The message
// contains the rank's step, the exact sums of its micro-batches, its share of a due evaluation, what the step cost it,
// whether it was asked to yield, and its checkpoint shards. Every rank combines all messages and so takes the same
// decisions.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_MESSAGE_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "worker/train/arithmetic/step_record.h"
#include "worker/train/step/step_cost.h"

namespace rekindle::train {

struct StepMessage {
  int64_t step = 0;
  int64_t attempt = 0;
  bool yield = false;
  bool yield_with_checkpoint = false;
  // `lease_holds` says that the lease of this rank holds when the message is sent.
  bool lease_holds = false;
  StepRecord record;
  // `evaluation` has the losses of this rank's share of the validation micro-batches. It has no maxima.
  StepRecord evaluation;
  StepCost cost;
  // `committed_step` is the step of the newest checkpoint that this rank knows to be durable.
  int64_t committed_step = -1;
  // `begin_checkpoint` requests a checkpoint of the state after this step. Only the value of rank 0 counts, and it
  // decides for all.
  bool begin_checkpoint = false;
  // `checkpoint_step` is the step of the snapshot to which `shards` belong.
  int64_t checkpoint_step = 0;
  std::vector<checkpoint::ShardRef> shards;
};

// Gives the sizes of a step's message, which are the same on all ranks of a generation.
struct StepMessageLayout {
  int parameters = 0;
  // `shards` is the largest number of shards that one rank owns.
  int shards = 0;

  size_t bytes() const;
};

// Encodes the message of a rank. REQUIRES: the message has at most layout.shards shards and layout.parameters entries
// in its record.
std::vector<uint8_t> Encode(const StepMessage& message, const StepMessageLayout& layout);
// Decodes the message of a rank. Returns INVALID_ARGUMENT if the size is wrong or a field is malformed.
absl::StatusOr<StepMessage> Decode(std::span<const uint8_t> bytes, const StepMessageLayout& layout);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_MESSAGE_H_
