// Computes the optimizers' part of a rank's probe (models::ProbeDigest computes the model's part). The probe finds
// ranks whose arithmetic differs before they join an exact job.
#ifndef REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_PROBE_H_
#define REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_PROBE_H_

#include <string>

namespace rekindle::train {

// Returns one digest for each optimizer. Each covers the state after a few exact updates with warm-up, cosine, clipping
// and decay on fixed gradients. The call takes less than 5 ms.
std::string OptimizerProbe();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_PROBE_H_
