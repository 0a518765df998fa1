#include "worker/train/state/train_state.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "worker/device/contract/host_access.h"
#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {

StateScalars FirstScalars(const ParameterLayout& layout) {
  StateScalars scalars;
  scalars.exponents.assign(layout.parameters.size(), kInitialExponent);
  return scalars;
}

absl::StatusOr<TrainState> TrainState::Zero(device::Device& device, const ParameterLayout& layout, int moments,
                                            bool in_parts) {
  TrainState state;
  state.moments = moments;
  state.scalars = FirstScalars(layout);
  const auto make = in_parts ? &FloatBuffer::Reserved : &FloatBuffer::Zeros;
  absl::StatusOr<FloatBuffer> weights = FloatBuffer::Readable(device, layout.total, "the weights");
  if (!weights.ok()) return weights.status();
  state.weights = *std::move(weights);
  const std::pair<FloatBuffer*, const char*> kept[] = {{&state.first_moment, "the first moment"},
                                                       {&state.second_moment, "the second moment"}};
  for (int moment = 0; moment < moments; ++moment) {
    absl::StatusOr<FloatBuffer> made = make(device, layout.total, kept[moment].second);
    if (!made.ok()) return made.status();
    *kept[moment].first = *std::move(made);
  }
  return state;
}

std::vector<FloatBuffer*> MomentsOf(TrainState& state, int moments) {
  std::vector<FloatBuffer*> kept{&state.first_moment, &state.second_moment};
  kept.resize(static_cast<size_t>(std::min(moments, state.moments)));
  return kept;
}

std::vector<const FloatBuffer*> MomentsOf(const TrainState& state, int moments) {
  std::vector<const FloatBuffer*> kept{&state.first_moment, &state.second_moment};
  kept.resize(static_cast<size_t>(std::min(moments, state.moments)));
  return kept;
}

absl::Status StateHasher::Add(const device::Range& floats) {
  return ReadOnHost(device_, device::Queue::kCompute, "hash", floats,
                    [this](std::span<const std::byte> bytes) { hasher_.Update(bytes.data(), bytes.size()); });
}

void StateHasher::AddZeros(int64_t elements) {
  constexpr int64_t kPiece = 64 * 1024;
  const std::vector<float> zeros(static_cast<size_t>(std::min(elements, kPiece)));
  for (int64_t at = 0; at < elements; at += kPiece) {
    hasher_.Update(zeros.data(), static_cast<size_t>(std::min(kPiece, elements - at)) * sizeof(float));
  }
}

std::string StateHasher::Finish(const StateScalars& scalars) {
  hasher_.Update(&scalars.cursor, sizeof(scalars.cursor));
  return hasher_.Hex();
}

absl::StatusOr<std::string> StateDigest(device::Device& device, const TrainState& state) {
  StateHasher hasher(device);
  for (const FloatBuffer* buffer : {&state.weights, &state.first_moment, &state.second_moment}) {
    if (buffer->size() == 0) {
      hasher.AddZeros(state.weights.size());
    } else if (absl::Status status = hasher.Add(buffer->all()); !status.ok()) {
      return status;
    }
  }
  return hasher.Finish(state.scalars);
}

}  // namespace rekindle::train
