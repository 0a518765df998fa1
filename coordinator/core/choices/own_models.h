// Names the nodes that cannot run a job with the user's own model, and says why.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_OWN_MODELS_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_OWN_MODELS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns why no usable node can run the job's own model, and how to fix that. Returns an empty string where a node
// can, where no node is usable yet, or where other machines can be ordered.
std::string UnfitForOwnModel(const State& state, const v1::JobSpec& spec);

// Names the first usable node that cannot run the job's own model, with the reason, and says how many others cannot.
// Where all nodes can, names a pool whose newest machine could not, and returns an empty string where there is none.
std::string DescribeUnable(const State& state, const v1::JobSpec& spec);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_OWN_MODELS_H_
