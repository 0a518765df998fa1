#include "worker/train/engine/read_checkpoint.h"

namespace rekindle::train {

absl::StatusOr<checkpoint::Restored> ReadCheckpoint(checkpoint::CheckpointClient& store, const Membership& membership,
                                                    const FittingCheckpoint& fitting, TrainState* target) {
  auto restored = store.Restore(membership.generation, membership.checkpoint,
                                {target->weights.data(), target->first_moment.data(), target->second_moment.data(),
                                 target->weights.size(), fitting.wanted});
  if (!restored.ok()) return restored.status();
  absl::Status status = ScalarsFromJson(restored->manifest.scalars, &target->scalars);
  if (status.ok()) status = CheckFits(target->scalars, fitting.layout);
  if (!status.ok()) return status;
  if (restored->manifest.spec_digest != fitting.spec_digest) {
    return absl::FailedPreconditionError("checkpoint " + membership.checkpoint + " was made by another job spec");
  }
  target->DropUnused();
  return restored;
}

}  // namespace rekindle::train
