// Mixed precision of a forward, as PyTorch's autocast does it: matrix products and attention in 16 bits, what needs the
// range or the digits (normalisation, residual sums, the loss) in float32. Weights stay float32; each is cast once a
// scope. Backward runs outside of the scope, each operation in the type of its forward. Torch-free header.
#ifndef REKINDLE_WORKER_MODELS_AUTOCAST_H_
#define REKINDLE_WORKER_MODELS_AUTOCAST_H_

#include "worker/models/device.h"
#include "worker/train/spec.h"

namespace rekindle::models {

// For the calling thread, while it lives; kFloat32: nothing. Scopes nest.
class Autocast {
 public:
  Autocast(train::ComputeType compute, ComputeDevice device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const bool active_;
  const bool cuda_;
  bool was_enabled_ = false;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_AUTOCAST_H_
