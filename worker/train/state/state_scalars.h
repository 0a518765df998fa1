// Declares the scalars of the training state, and encodes them for other ranks and for manifests.
#ifndef REKINDLE_WORKER_TRAIN_STATE_STATE_SCALARS_H_
#define REKINDLE_WORKER_TRAIN_STATE_STATE_SCALARS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/loss_scale.h"
#include "worker/train/levers/lever_state.h"

namespace rekindle::train {

// Holds the scalars of the state. They travel between ranks as a fixed little-endian record (see EncodeScalars), and
// are in manifests as JSON.
struct StateScalars {
  // `step` counts the steps wholly applied.
  int64_t step = 0;
  // `attempt` counts the redone attempts of the running step.
  int64_t attempt = 0;
  // `cursor` counts the samples consumed, which is global_batch * step.
  int64_t cursor = 0;
  // In exact mode `exponents` holds the power-of-two scale of each parameter's gradient for the next step.
  std::vector<int32_t> exponents;
  // `missed` counts for each parameter the steps in which it got no gradient, so that the optimizer left it as it was.
  // It is empty as long as no parameter has missed a step.
  std::vector<int64_t> missed;
  // `loss_scale` is used only with FP16.
  LossScale loss_scale;
  LeverState levers;
};

std::vector<uint8_t> EncodeScalars(const StateScalars& scalars);
// Decodes the scalars from a record. Returns INVALID_ARGUMENT if the record is malformed.
absl::Status DecodeScalars(std::span<const uint8_t> bytes, StateScalars* scalars);
std::string ScalarsToJson(const StateScalars& scalars);
absl::Status ScalarsFromJson(const std::string& json, StateScalars* scalars);
// Returns INVALID_ARGUMENT if the decoded scalars belong to another model. They must then not be used.
absl::Status CheckFits(const StateScalars& scalars, const ParameterLayout& layout);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_STATE_SCALARS_H_
