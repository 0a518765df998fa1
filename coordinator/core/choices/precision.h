// Decides in which precisions a device computes fast and safely, and what `auto` means on the nodes at hand.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_PRECISION_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_PRECISION_H_

#include <string>
#include <utility>
#include <vector>

#include "common/spec/spec_words.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns why a job should not compute in `precision` ("fp32", "bf16" or "fp16") on `device`. An empty string means
// that the precision is as safe as FP32 on the device, and not slower.
std::string PrecisionFlaw(const v1::Device& device, const std::string& precision);

struct PrecisionChoice {
  common::Precision precision;
  std::string reason;
};

// Chooses the fastest precision for which `PrecisionFlaw` is empty on every node. Each node is given as its name and
// its device, and the caller must pass at least one.
PrecisionChoice ChoosePrecision(const std::vector<std::pair<std::string, v1::Device>>& nodes);

// Returns why the usable nodes are not fit for the precision that a resolved spec names, and how to fix that. Returns
// an empty string where they are fit, or where there is no usable node.
std::string UnfitPrecision(const State& state, const v1::JobSpec& spec);

// Replaces `auto` in the resolved spec and emits an event with the reason. Where the spec names a precision that the
// nodes are not fit for, it emits a warning, or ends the job if the policy refuses that. All of this happens once per
// job, as soon as a usable node is known and before the job's first trainer is placed.
void ResolvePrecision(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_PRECISION_H_
