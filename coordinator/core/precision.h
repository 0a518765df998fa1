// Which precisions a device computes fast and safely in, and what `auto` means on the nodes at hand.
#ifndef REKINDLE_COORDINATOR_CORE_PRECISION_H_
#define REKINDLE_COORDINATOR_CORE_PRECISION_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Why a job should not compute in `precision` ("fp32", "bf16" or "fp16") there; empty: it is as safe as FP32, and not
// slower.
std::string PrecisionFlaw(const v1::Device& device, const std::string& precision);

struct PrecisionChoice {
  std::string precision;
  std::string reason;
};

// Nodes by name. The fastest that is without a flaw on all of them. Precondition: not empty.
PrecisionChoice ChoosePrecision(const std::vector<std::pair<std::string, v1::Device>>& nodes);

// Why the usable nodes are no good at the precision a resolved spec names, with the fix; empty: they are, or none is
// there.
std::string UnfitPrecision(const State& state, const v1::JobSpec& spec);

// Once a job, before its first trainer is placed and as soon as there is a node: replaces `auto` in the resolved spec
// and says why; warns of a precision that the nodes are no good at, or ends the job where the policy refuses that.
void SettlePrecision(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PRECISION_H_
