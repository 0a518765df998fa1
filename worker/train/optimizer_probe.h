// The optimizer's share of a rank's probe (the model's is models::ProbeDigest): ranks whose arithmetic differs are told
// apart before they join an exact job.
#ifndef REKINDLE_WORKER_TRAIN_OPTIMIZER_PROBE_H_
#define REKINDLE_WORKER_TRAIN_OPTIMIZER_PROBE_H_

#include <string>

namespace rekindle::train {

// Digests, one an optimizer, of the state after a few exact updates with warm-up, cosine, clipping and decay on fixed
// gradients. Below 5 ms.
std::string OptimizerProbe();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OPTIMIZER_PROBE_H_
