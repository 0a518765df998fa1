#include "worker/train/engine/read_checkpoint.h"

#include <array>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "worker/device/contract/host_access.h"

namespace rekindle::train {
namespace {

using checkpoint::ElementRange;
using checkpoint::Restored;

// Reads a state to memory of the host: all weights, and the wanted ranges of each moment that is not null. A moment
// points to the element with which the first of its ranges begins.
using Restore = std::function<absl::StatusOr<Restored>(float* weights, float* first_moment, float* second_moment)>;

// The processor writes its own memory in place.
absl::StatusOr<Restored> RestoreInPlace(device::Device& device, const std::vector<ElementRange>& wanted,
                                        const Restore& restore, TrainState& target) {
  device::Operation operation{.name = "restore", .reads = {}, .writes = {target.weights.all()}};
  // The ranges of each moment follow on the weights.
  const std::vector<FloatBuffer*> moments = MomentsOf(target, wanted.empty() ? 0 : target.moments);
  for (const FloatBuffer* moment : moments) {
    for (const ElementRange& range : wanted) operation.writes.push_back(moment->Part(range.begin, range.size()));
  }
  absl::StatusOr<Restored> restored = absl::InternalError("nothing was read");
  operation.run = [&](const device::Addresses& at) {
    restored = restore(at.Write<float>(0), !moments.empty() ? at.Write<float>(1) : nullptr,
                       moments.size() >= 2 ? at.Write<float>(1 + wanted.size()) : nullptr);
    return absl::OkStatus();
  };
  const absl::Status status = RunAndAwait(device, device::Queue::kCompute, std::move(operation));
  if (!status.ok()) return status;
  return restored;
}

absl::StatusOr<Restored> RestoreByCopies(device::Device& device, const std::vector<ElementRange>& wanted,
                                         const Restore& restore, TrainState& target) {
  const auto write = [&](std::span<const float> values, const device::Range& range) {
    return WriteFromHost(device, device::Queue::kCompute, "restore", std::as_bytes(values), range);
  };
  std::vector<float> weights(static_cast<size_t>(target.weights.size()));
  const std::vector<FloatBuffer*> kept = MomentsOf(target, wanted.empty() ? 0 : target.moments);
  std::array<std::vector<float>, 2> moments;
  for (size_t i = 0; i < kept.size(); ++i) {
    moments[i].resize(static_cast<size_t>(wanted.back().end - wanted.front().begin));
  }
  absl::StatusOr<Restored> restored = restore(weights.data(), !kept.empty() ? moments[0].data() : nullptr,
                                              kept.size() >= 2 ? moments[1].data() : nullptr);
  if (!restored.ok()) return restored;
  if (absl::Status status = write(weights, target.weights.all()); !status.ok()) return status;
  for (size_t i = 0; i < kept.size(); ++i) {
    for (const ElementRange& range : wanted) {
      const auto values =
          std::span<const float>(moments[i])
              .subspan(static_cast<size_t>(range.begin - wanted.front().begin), static_cast<size_t>(range.size()));
      if (absl::Status status = write(values, kept[i]->Part(range.begin, range.size())); !status.ok()) return status;
    }
  }
  return restored;
}

}  // namespace

absl::StatusOr<Restored> ReadCheckpoint(device::Device& device, checkpoint::CheckpointClient& store,
                                        const Membership& membership, const FittingCheckpoint& fitting,
                                        TrainState* target) {
  const int64_t total = target->weights.size();
  const std::vector<ElementRange> all{{0, total}};
  const std::vector<ElementRange>& wanted = fitting.wanted == nullptr ? all : *fitting.wanted;
  const Restore restore = [&](float* weights, float* first_moment, float* second_moment) {
    return store.Restore(membership.generation, membership.checkpoint,
                         {.weights = weights,
                          .first_moment = first_moment,
                          .second_moment = second_moment,
                          .total = total,
                          .moments = &wanted,
                          .moments_origin = wanted.empty() ? 0 : wanted.front().begin});
  };
  absl::StatusOr<Restored> restored = device.IsHost() ? RestoreInPlace(device, wanted, restore, *target)
                                                      : RestoreByCopies(device, wanted, restore, *target);
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
