#include "worker/train/state/optimizer_probe.h"

#include <memory>
#include <vector>

#include "common/check/check.h"
#include "worker/device/host/host_device.h"
#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/levers/learning_rate.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {
namespace {

// `kElements` is not a multiple of 16, the number of floats in an AVX-512 vector, so the last vector is incomplete.
constexpr int kElements = 5000;
constexpr int kRows = 50;
constexpr int kSteps = 4;
constexpr char kRoom[] = "a process has memory for the probe of the optimizers";

// Fills the gradient with values of many magnitudes and both signs, from integer arithmetic alone.
void FillGradient(int step, std::vector<float>* gradient) {
  uint32_t x = 2463534242u + static_cast<uint32_t>(step);
  for (float& g : *gradient) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    g = static_cast<float>(static_cast<int32_t>(x)) / static_cast<float>(1u << (20 + x % 11));
  }
}

std::string ProbeOf(const OptimizerSpec& optimizer) {
  ParameterLayout layout;
  layout.parameters = {
      {.name = "probe", .shape = {kRows, kElements / kRows}, .offset = 0, .size = kElements, .decay = true}};
  layout.total = kElements;
  const std::unique_ptr<device::Device> host = device::MakeHostDevice();
  absl::StatusOr<TrainState> state = TrainState::Zero(*host, layout);
  GradientAccumulator accumulator(*host, &layout, GradientAccumulator::Mode::kExact, 1);
  common::Check(state.ok() && accumulator.Allocate().ok(), kRoom);
  const ScheduleSpec schedule{"cosine", 2, 0.1};
  std::vector<float> gradient(kElements);
  for (int step = 0; step < kSteps; ++step) {
    FillGradient(step, &gradient);
    accumulator.Begin(step, 0, state->scalars.exponents);
    const absl::StatusOr<int> slot = accumulator.Open(0);
    common::Check(slot.ok(), kRoom);
    accumulator.Add(*slot, 0, gradient);
    accumulator.Close(*slot, LossSum{.sum = 0, .count = 1});
    const double rate = LearningRate(optimizer, schedule, step, kSteps, {});
    const bool made =
        accumulator.Take(true).ok() && Update(*host, layout, accumulator.sums(), 7, optimizer, rate, 1.0, &*state).ok();
    common::Check(made, kRoom);
    ++state->scalars.step;
  }
  const absl::StatusOr<std::string> digest = StateDigest(*host, *state);
  common::Check(digest.ok(), kRoom);
  return *digest;
}

}  // namespace

std::string OptimizerProbe() {
  std::string digests;
  for (const OptimizerKind* kind : Optimizers()) digests += ProbeOf({.kind = kind->name, .momentum = 0.9});
  return digests;
}

}  // namespace rekindle::train
