#include "worker/train/engine/read_checkpoint.h"

#include <utility>

namespace rekindle::train {

absl::StatusOr<checkpoint::Restored> ReadCheckpoint(device::Device& device, checkpoint::CheckpointClient& store,
                                                    const Membership& membership, const FittingCheckpoint& fitting,
                                                    TrainState* target) {
  const int64_t total = target->weights.size();
  const std::vector<checkpoint::ElementRange> all{{0, total}};
  const std::vector<checkpoint::ElementRange>& wanted = fitting.wanted == nullptr ? all : *fitting.wanted;
  device::Operation operation{.name = "restore", .reads = {}, .writes = {target->weights.all()}};
  // The ranges of each moment follow on the weights.
  if (!wanted.empty()) {
    for (const FloatBuffer* moment : MomentsOf(*target, target->moments)) {
      for (const auto& range : wanted) operation.writes.push_back(moment->Part(range.begin, range.size()));
    }
  }
  absl::StatusOr<checkpoint::Restored> restored = absl::InternalError("nothing was read");
  operation.run = [&](const device::Addresses& at) {
    const int moments = wanted.empty() ? 0 : target->moments;
    restored = store.Restore(membership.generation, membership.checkpoint,
                             {.weights = at.Write<float>(0),
                              .first_moment = moments >= 1 ? at.Write<float>(1) : nullptr,
                              .second_moment = moments >= 2 ? at.Write<float>(1 + wanted.size()) : nullptr,
                              .total = total,
                              .moments = &wanted,
                              .moments_origin = wanted.empty() ? 0 : wanted.front().begin});
    return absl::OkStatus();
  };
  absl::Status status = RunAndAwait(device, device::Queue::kCompute, std::move(operation));
  if (status.ok()) status = restored.status();
  if (status.ok()) status = ScalarsFromJson(restored->manifest.scalars, &target->scalars);
  if (status.ok()) status = CheckFits(target->scalars, fitting.layout);
  if (!status.ok()) return status;
  if (restored->manifest.spec_digest != fitting.spec_digest) {
    return absl::FailedPreconditionError("checkpoint " + membership.checkpoint + " was made by another job spec");
  }
  return restored;
}

}  // namespace rekindle::train
