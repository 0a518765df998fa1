#include "worker/models/aten/autocast.h"

#include <ATen/autocast_mode.h>

namespace rekindle::models {

using train::ComputeType;

Autocast::Autocast(ComputeType compute, ComputeDevice device)
    : active_(compute != ComputeType::kFloat32), cuda_(device == ComputeDevice::kCuda) {
  if (!active_) return;
  const at::DeviceType type = cuda_ ? at::kCUDA : at::kCPU;
  was_enabled_ = at::autocast::is_autocast_enabled(type);
  at::autocast::set_autocast_enabled(type, true);
  at::autocast::set_autocast_dtype(type, compute == ComputeType::kBfloat16 ? at::kBFloat16 : at::kHalf);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  // The cached casts of the weights are valid only for the forward that ends here, because the optimizer writes the
  // weights next.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(cuda_ ? at::kCUDA : at::kCPU, was_enabled_);
}

}  // namespace rekindle::models
