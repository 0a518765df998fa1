// Provides mixed precision for the forward of a model, as PyTorch's autocast does. Matrix products and attention run in
// 16 bits. Operations that need the range or the precision of float32 (normalisation, residual sums, the loss) run in
// float32. Weights stay float32, and each is cast once in a scope. Backward runs outside of the scope, and each
// operation uses the type of its forward. This header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_ATEN_AUTOCAST_H_
#define REKINDLE_WORKER_MODELS_ATEN_AUTOCAST_H_

#include "worker/contract/spec.h"
#include "worker/models/declared/compute_device.h"

namespace rekindle::models {

// Enables autocast for the calling thread while the object lives. An object for kFloat32 does nothing. Scopes may nest.
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

#endif  // REKINDLE_WORKER_MODELS_ATEN_AUTOCAST_H_
