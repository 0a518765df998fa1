// Reads a checkpoint of the job into memory.
#ifndef REKINDLE_WORKER_TRAIN_RESTORE_READ_CHECKPOINT_H_
#define REKINDLE_WORKER_TRAIN_RESTORE_READ_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/client/client.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/control/membership.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Says which checkpoints a job can restore, and which part of a checkpoint this rank needs.
struct FittingCheckpoint {
  const std::string& spec_digest;
  const ParameterLayout& layout;
  // `wanted` has the moments that this rank needs. It is null if it needs all of them.
  const std::vector<checkpoint::ElementRange>* wanted = nullptr;
};

// Reads the checkpoint that the membership names into `target`, which must have memory on `device` for all that this
// rank needs. After an error `target` still has its memory but holds no valid state. Returns FAILED_PRECONDITION if
// another job spec made the checkpoint, and the error of the device, if it has one.
absl::StatusOr<checkpoint::Restored> ReadCheckpoint(device::Device& device, checkpoint::CheckpointClient& store,
                                                    const Membership& membership, const FittingCheckpoint& fitting,
                                                    TrainState* target);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_RESTORE_READ_CHECKPOINT_H_
