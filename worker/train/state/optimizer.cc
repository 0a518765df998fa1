#include "worker/train/state/optimizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/optimizers/optimizer_update.h"

namespace rekindle::train {
namespace {

// `kChunkElements` elements are updated out of place at a time, so that they stay in the cache.
constexpr int64_t kChunkElements = 16 * 1024;

// Points to memory that holds the state from element `origin` on, while an operation runs. Moments that the optimizer
// does not keep are null.
struct FlatState {
  float* weights = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t origin = 0;
};

// Updates the elements [begin, end) of `state` and skips buffers.
void UpdateElements(const ParameterLayout& layout, const PlannedUpdate& update, const GradientView& gradient,
                    int64_t begin, int64_t end, const FlatState& state) {
  const bool fixed = gradient.fixed != nullptr;
  const auto at = [&](float* memory, int64_t element) {
    return memory == nullptr ? nullptr : memory + (element - state.origin);
  };
  auto next = std::upper_bound(layout.parameters.begin(), layout.parameters.end(), begin,
                               [](int64_t element, const ParameterInfo& info) { return element < info.offset; });
  for (auto info = next == layout.parameters.begin() ? next : next - 1;
       info != layout.parameters.end() && info->offset < end && !info->is_buffer(); ++info) {
    const int64_t from = std::max(begin, info->offset), to = std::min(end, info->offset + info->size);
    if (from >= to) continue;
    const auto parameter = static_cast<size_t>(info - layout.parameters.begin());
    UpdateParameter({.spec = update.optimizer,
                     .learning_rate = update.learning_rate,
                     .weight_decay = info->decay ? update.optimizer.weight_decay : 0,
                     .step = update.step,
                     .fixed = gradient.FixedAt(from),
                     .values = gradient.ValuesAt(from),
                     .scale = fixed ? std::ldexp(update.scale, -update.exponents[parameter]) : update.scale,
                     .size = to - from,
                     .shape = info->shape,
                     .weights = at(state.weights, from),
                     .first_moment = at(state.first_moment, from),
                     .second_moment = at(state.second_moment, from)});
  }
}

}  // namespace

PlannedUpdate PlanUpdate(const GradientBuffer& gradient, double squares, int64_t count, const OptimizerSpec& optimizer,
                         double learning_rate, double clip_norm, const StateScalars& scalars) {
  const double tokens = static_cast<double>(count);
  PlannedUpdate update{.optimizer = optimizer,
                       .learning_rate = learning_rate,
                       .step = scalars.step + 1,
                       .gradient = &gradient,
                       .exponents = scalars.exponents};
  update.result.grad_norm = std::sqrt(squares) / tokens;
  update.result.found_inf = !std::isfinite(update.result.grad_norm);
  const double clip = clip_norm > 0 ? std::min(1.0, clip_norm / (update.result.grad_norm + 1e-6)) : 1.0;
  update.scale = clip / tokens;
  return update;
}

device::Operation UpdateOf(const ParameterLayout& layout, const PlannedUpdate& update, const ElementRange& range,
                           TrainState& state) {
  device::Operation operation{.name = "update",
                              .reads = {update.gradient->Part(range.begin, range.size())},
                              .writes = {state.weights.Part(range.begin, range.size())}};
  const std::vector<FloatBuffer*> moments = MomentsOf(state, state.moments);
  for (const FloatBuffer* moment : moments) operation.writes.push_back(moment->Part(range.begin, range.size()));
  operation.run = [&layout, update = std::make_shared<const PlannedUpdate>(update), range,
                   kept = moments.size()](const device::Addresses& at) {
    const FlatState flat{.weights = at.Write<float>(0),
                         .first_moment = kept >= 1 ? at.Write<float>(1) : nullptr,
                         .second_moment = kept >= 2 ? at.Write<float>(2) : nullptr,
                         .origin = range.begin};
    UpdateElements(layout, *update, update->gradient->ViewAt(at.Read<void>(0), range.begin), range.begin, range.end,
                   flat);
    return absl::OkStatus();
  };
  return operation;
}

device::Operation UpdatedCopyOf(const ParameterLayout& layout, const std::optional<PlannedUpdate>& update,
                                const ElementRange& range, const TrainState& state, const NewValues& out) {
  device::Operation operation{
      .name = "updated copy", .reads = {state.weights.Part(range.begin, range.size())}, .writes = {}};
  const std::vector<const FloatBuffer*> moments = MomentsOf(state, state.moments);
  for (const FloatBuffer* moment : moments) operation.reads.push_back(moment->Part(range.begin, range.size()));
  if (update) operation.reads.push_back(update->gradient->Part(range.begin, range.size()));
  // `kept` has, for the weights and each moment, which of the written ranges takes the new values, or -1.
  std::vector<int> kept;
  const device::Range outs[] = {out.weights, out.first_moment, out.second_moment};
  for (size_t i = 0; i <= moments.size(); ++i) {
    kept.push_back(outs[i].block == nullptr ? -1 : static_cast<int>(operation.writes.size()));
    if (outs[i].block != nullptr) operation.writes.push_back(outs[i]);
  }
  operation.run = [&layout, update = std::make_shared<const std::optional<PlannedUpdate>>(update), range,
                   kept = std::move(kept)](const device::Addresses& at) {
    const auto chunk = static_cast<size_t>(std::min(kChunkElements, range.size()));
    std::vector<std::vector<float>> scratch(kept.size());
    for (size_t i = 0; i < kept.size(); ++i) scratch[i].resize(kept[i] < 0 ? chunk : 0);
    for (const ElementRange& part : PartsOf(range, kChunkElements)) {
      const int64_t offset = part.begin - range.begin;
      float* values[3] = {};
      for (size_t i = 0; i < kept.size(); ++i) {
        values[i] = kept[i] < 0 ? scratch[i].data() : at.Write<float>(static_cast<size_t>(kept[i])) + offset;
        std::copy_n(at.Read<float>(i) + offset, part.size(), values[i]);
      }
      if (!*update) continue;
      const GradientView gradient = (*update)->gradient->ViewAt(at.Read<void>(kept.size()), range.begin);
      UpdateElements(layout, **update, gradient, part.begin, part.end, {values[0], values[1], values[2], part.begin});
    }
    return absl::OkStatus();
  };
  return operation;
}

absl::StatusOr<UpdateResult> Update(device::Device& device, const ParameterLayout& layout,
                                    const GradientBuffer& gradient, int64_t count, const OptimizerSpec& optimizer,
                                    double learning_rate, double clip_norm, TrainState* state) {
  const absl::StatusOr<double> squares = GradientSumOfSquares(device, layout, gradient, state->scalars.exponents);
  if (!squares.ok()) return squares.status();
  const PlannedUpdate update =
      PlanUpdate(gradient, *squares, count, optimizer, learning_rate, clip_norm, state->scalars);
  if (update.result.found_inf) return update.result;
  absl::Status status =
      RunAndAwait(device, device::Queue::kCompute, UpdateOf(layout, update, {0, layout.total}, *state));
  if (!status.ok()) return status;
  return update.result;
}

}  // namespace rekindle::train
