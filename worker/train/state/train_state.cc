#include "worker/train/state/train_state.h"

#include "common/digest/hash.h"
#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {

TrainState TrainState::Zero(const ParameterLayout& layout, int moments, bool in_parts) {
  const int present = in_parts ? 0 : moments;
  TrainState state;
  state.weights = FloatBuffer(layout.total);
  state.first_moment = present >= 1 ? FloatBuffer(layout.total) : FloatBuffer::Unused(layout.total);
  state.second_moment = present >= 2 ? FloatBuffer(layout.total) : FloatBuffer::Unused(layout.total);
  state.moments = moments;
  state.scalars.exponents.assign(layout.parameters.size(), kInitialExponent);
  return state;
}

void TrainState::DropUnused() {
  if (moments < 1) first_moment = FloatBuffer::Unused(weights.size());
  if (moments < 2) second_moment = FloatBuffer::Unused(weights.size());
}

std::string StateDigest(const TrainState& state) {
  common::Hasher hasher;
  for (const FloatBuffer* buffer : {&state.weights, &state.first_moment, &state.second_moment}) {
    hasher.Update(buffer->data(), buffer->size() * sizeof(float));
  }
  hasher.Update(&state.scalars.cursor, sizeof(state.scalars.cursor));
  return hasher.Hex();
}

}  // namespace rekindle::train
