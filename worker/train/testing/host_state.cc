#include "worker/train/testing/host_state.h"

#include <algorithm>

#include "common/check/check.h"
#include "worker/device/host/host_device.h"

namespace rekindle::train {
namespace {

constexpr char kRoom[] = "a test has memory for its state";

template <typename T>
GradientBuffer Made(bool exact, std::span<const T> values) {
  GradientBuffer gradient(exact);
  common::Check(gradient.Allocate(TestHost(), static_cast<int64_t>(values.size()), "a gradient").ok(), kRoom);
  std::copy(values.begin(), values.end(), ElementsOf<T>(gradient.all()).begin());
  return gradient;
}

}  // namespace

device::Device& TestHost() {
  static auto* const host = device::MakeHostDevice().release();
  return *host;
}

TrainState ZeroState(const ParameterLayout& layout, int moments) {
  absl::StatusOr<TrainState> state = TrainState::Zero(TestHost(), layout, moments);
  common::Check(state.ok(), kRoom);
  return *std::move(state);
}

std::string DigestOf(const TrainState& state) {
  const absl::StatusOr<std::string> digest = StateDigest(TestHost(), state);
  common::Check(digest.ok(), "a host device has no error");
  return *digest;
}

GradientBuffer GradientOf(std::span<const int64_t> fixed) { return Made(true, fixed); }
GradientBuffer GradientOf(std::span<const float> values) { return Made(false, values); }

}  // namespace rekindle::train
