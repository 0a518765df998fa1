#include "worker/train/restore/read_checkpoint.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "worker/train/restore/plane_merger.h"

namespace rekindle::train {
namespace {

using checkpoint::ElementRange;
using checkpoint::Restored;

// The processor writes its own memory in place.
absl::StatusOr<Restored> RestoreInPlace(device::Device& device, checkpoint::CheckpointClient& store,
                                        const Membership& membership, const std::vector<ElementRange>& wanted,
                                        TrainState& target) {
  device::Operation operation{.name = "restore", .reads = {}, .writes = {target.weights.all()}};
  // The ranges of each moment follow on the weights.
  const std::vector<FloatBuffer*> moments = MomentsOf(target, wanted.empty() ? 0 : target.moments);
  for (const FloatBuffer* moment : moments) {
    for (const ElementRange& range : wanted) operation.writes.push_back(moment->Part(range.begin, range.size()));
  }
  absl::StatusOr<Restored> restored = absl::InternalError("nothing was read");
  operation.run = [&](const device::Addresses& at) {
    // Each moment points to the element with which the first of its ranges begins.
    restored = store.Restore(membership.generation, membership.checkpoint,
                             {.weights = at.Write<float>(0),
                              .first_moment = !moments.empty() ? at.Write<float>(1) : nullptr,
                              .second_moment = moments.size() >= 2 ? at.Write<float>(1 + wanted.size()) : nullptr,
                              .total = target.weights.size(),
                              .moments = &wanted,
                              .moments_origin = wanted.empty() ? 0 : wanted.front().begin});
    return absl::OkStatus();
  };
  const absl::Status status = RunAndAwait(device, device::Queue::kCompute, std::move(operation));
  if (!status.ok()) return status;
  return restored;
}

absl::StatusOr<Restored> RestoreOnDevice(device::Device& device, checkpoint::CheckpointClient& store,
                                         const Membership& membership, const std::vector<ElementRange>& wanted,
                                         TrainState& target) {
  absl::StatusOr<Restored> restored = absl::InternalError("nothing was read");
  {
    PlaneMerger merger(device, target, wanted);
    if (absl::Status status = merger.Allocate(); !status.ok()) return status;
    restored = store.RestoreShards(membership.generation, membership.checkpoint, target.weights.size(),
                                   [&merger](std::span<const uint8_t> plane0, std::span<const uint8_t> plane1) {
                                     return merger.Merge(plane0, plane1);
                                   });
  }
  const absl::Status merged = RunAndAwait(
      device, device::Queue::kCompute,
      {.name = "restored", .reads = {}, .writes = {}, .launch = [](const device::Addresses&, const device::Launch&) {
         return 0;
       }});
  if (!merged.ok()) return merged;
  return restored;
}

}  // namespace

absl::StatusOr<Restored> ReadCheckpoint(device::Device& device, checkpoint::CheckpointClient& store,
                                        const Membership& membership, const FittingCheckpoint& fitting,
                                        TrainState* target) {
  const std::vector<ElementRange> all{{0, target->weights.size()}};
  const std::vector<ElementRange>& wanted = fitting.wanted == nullptr ? all : *fitting.wanted;
  absl::StatusOr<Restored> restored = device.IsHost() ? RestoreInPlace(device, store, membership, wanted, *target)
                                                      : RestoreOnDevice(device, store, membership, wanted, *target);
  absl::Status status = restored.status();
  if (status.ok()) status = ScalarsFromJson(restored->manifest.scalars, &target->scalars);
  if (status.ok()) status = CheckFits(target->scalars, fitting.layout);
  if (!status.ok()) return status;
  if (restored->manifest.spec_digest != fitting.spec_digest) {
    return absl::FailedPreconditionError("checkpoint " + membership.checkpoint + " was made by another job spec");
  }
  return restored;
}

}  // namespace rekindle::train
