#include "worker/train/state/optimizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/optimizers/matrix_update.h"

namespace rekindle::train {
namespace {

// Calls `visit(info, parameter, from, to)` for each part of a parameter in `range` that the update changes. It skips
// parameters without a gradient, and buffers, which follow on all other parameters.
template <typename Visit>
void ForEachPart(const ParameterLayout& layout, const PlannedUpdate& update, const ElementRange& range,
                 const Visit& visit) {
  auto next = std::upper_bound(layout.parameters.begin(), layout.parameters.end(), range.begin,
                               [](int64_t element, const ParameterInfo& info) { return element < info.offset; });
  for (auto info = next == layout.parameters.begin() ? next : next - 1;
       info != layout.parameters.end() && info->offset < range.end && !info->is_buffer(); ++info) {
    const auto parameter = static_cast<size_t>(info - layout.parameters.begin());
    const int64_t from = std::max(range.begin, info->offset), to = std::min(range.end, info->offset + info->size);
    if (from < to && update.updates[parameter] > 0) visit(*info, parameter, from, to);
  }
}

// Describes the update of the elements [from, to) of a parameter, without the memory of its values.
RekindleUpdate Describe(const PlannedUpdate& update, const GradientView& gradient, const ParameterInfo& info,
                        size_t parameter, int64_t from, int64_t to) {
  const OptimizerSpec& optimizer = update.optimizer;
  const bool fixed = gradient.fixed != nullptr;
  return {.optimizer = KernelOf(optimizer.kind).value_or(RekindleOptimizer{}),
          .learning_rate = update.learning_rate * info.rate,
          .weight_decay = info.own_weight_decay.value_or(info.decay ? optimizer.weight_decay : 0),
          .beta1 = optimizer.beta1,
          .beta2 = optimizer.beta2,
          .epsilon = optimizer.epsilon,
          .momentum = optimizer.momentum,
          .step = update.updates[parameter],
          .values = gradient.ValuesAt(from),
          .fixed = gradient.FixedAt(from),
          .scale = fixed ? std::ldexp(update.scale, -update.exponents[parameter]) : update.scale,
          .n = static_cast<size_t>(to - from)};
}

// Sets the memory of an update in place, whose operation writes the weights and `moments` moments from `offset` on.
void SetInPlace(const device::Addresses& at, int64_t offset, size_t moments, RekindleUpdate* update) {
  update->weights = update->new_weights = at.Write<float>(0) + offset;
  if (moments >= 1) update->first_moment = update->new_first_moment = at.Write<float>(1) + offset;
  if (moments >= 2) update->second_moment = update->new_second_moment = at.Write<float>(2) + offset;
}

}  // namespace

PlannedUpdate PlanUpdate(const GradientBuffer& gradient, double squares, int64_t count, const OptimizerSpec& optimizer,
                         double learning_rate, double clip_norm, const StateScalars& scalars,
                         std::span<const uint8_t> has_gradient) {
  const double tokens = static_cast<double>(count);
  PlannedUpdate update{.optimizer = optimizer,
                       .learning_rate = learning_rate,
                       .gradient = &gradient,
                       .exponents = scalars.exponents,
                       .updates = std::vector<int64_t>(has_gradient.size())};
  for (size_t p = 0; p < has_gradient.size(); ++p) {
    const int64_t missed = scalars.missed.empty() ? 0 : scalars.missed[p];
    if (has_gradient[p] != 0) update.updates[p] = scalars.step + 1 - missed;
  }
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
  const auto planned = std::make_shared<const PlannedUpdate>(update);
  const size_t kept = moments.size();
  if (!KernelOf(update.optimizer.kind)) {
    operation.run = [&layout, planned, range, kept](const device::Addresses& at) {
      const GradientView gradient = planned->gradient->ViewAt(at.Read<void>(0), range.begin);
      const auto update_part = [&](const ParameterInfo& info, size_t parameter, int64_t from, int64_t to) {
        MatrixUpdate matrix{.update = Describe(*planned, gradient, info, parameter, from, to), .shape = info.shape};
        SetInPlace(at, from - range.begin, kept, &matrix.update);
        UpdateMatrix(planned->optimizer.kind, matrix);
      };
      ForEachPart(layout, *planned, range, update_part);
      return absl::OkStatus();
    };
    return operation;
  }
  operation.launch = [&layout, planned, range, kept](const device::Addresses& at, const device::Launch& on) {
    const GradientView gradient = planned->gradient->ViewAt(at.Read<void>(0), range.begin);
    int code = 0;
    const auto update_part = [&](const ParameterInfo& info, size_t parameter, int64_t from, int64_t to) {
      RekindleUpdate part = Describe(*planned, gradient, info, parameter, from, to);
      SetInPlace(at, from - range.begin, kept, &part);
      if (code == 0) code = on(&RekindleKernels::update, part);
    };
    ForEachPart(layout, *planned, range, update_part);
    return code;
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
  // `outs` has the weights and each moment that is kept, with the index of its present values.
  std::vector<size_t> outs;
  const device::Range all[] = {out.weights, out.first_moment, out.second_moment};
  for (size_t i = 0; i <= moments.size(); ++i) {
    if (all[i].block == nullptr) continue;
    outs.push_back(i);
    operation.writes.push_back(all[i]);
  }
  operation.launch = [&layout, planned = std::make_shared<const std::optional<PlannedUpdate>>(update), range,
                      moments = moments.size(),
                      outs = std::move(outs)](const device::Addresses& at, const device::Launch& on) {
    int code = 0;
    int64_t done = range.begin;
    // What is not updated stays as it is.
    const auto copy_until = [&](int64_t end) {
      for (size_t i = 0; i < outs.size() && code == 0 && done < end; ++i) {
        const int64_t offset = done - range.begin;
        code = on(&RekindleKernels::copy, {.to = at.Write<float>(i) + offset,
                                           .from = at.Read<float>(outs[i]) + offset,
                                           .bytes = static_cast<size_t>(end - done) * sizeof(float)});
      }
      done = end;
    };
    const auto update_part = [&](const ParameterInfo& info, size_t parameter, int64_t from, int64_t to) {
      copy_until(from);
      const GradientView gradient = (*planned)->gradient->ViewAt(at.Read<void>(moments + 1), range.begin);
      RekindleUpdate part = Describe(**planned, gradient, info, parameter, from, to);
      const float** const old[] = {&part.weights, &part.first_moment, &part.second_moment};
      float** const fresh[] = {&part.new_weights, &part.new_first_moment, &part.new_second_moment};
      for (size_t i = 0; i <= moments; ++i) *old[i] = at.Read<float>(i) + (from - range.begin);
      for (size_t i = 0; i < outs.size(); ++i) *fresh[outs[i]] = at.Write<float>(i) + (from - range.begin);
      if (code == 0) code = on(&RekindleKernels::update, part);
      done = to;
    };
    if (*planned) ForEachPart(layout, **planned, range, update_part);
    copy_until(range.end);
    return code;
  };
  return operation;
}

absl::StatusOr<UpdateResult> Update(device::Device& device, const ParameterLayout& layout,
                                    const GradientBuffer& gradient, int64_t count, const OptimizerSpec& optimizer,
                                    double learning_rate, double clip_norm, TrainState* state) {
  const absl::StatusOr<double> squares = GradientSumOfSquares(device, layout, gradient, state->scalars.exponents);
  if (!squares.ok()) return squares.status();
  const std::vector<uint8_t> all(layout.parameters.size(), 1);
  const PlannedUpdate update =
      PlanUpdate(gradient, *squares, count, optimizer, learning_rate, clip_norm, state->scalars, all);
  if (update.result.found_inf) return update.result;
  absl::Status status =
      RunAndAwait(device, device::Queue::kCompute, UpdateOf(layout, update, {0, layout.total}, *state));
  if (!status.ok()) return status;
  return update.result;
}

}  // namespace rekindle::train
