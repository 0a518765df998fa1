#include "worker/models/autocast.h"

#include <ATen/autocast_mode.h>

namespace rekindle::models {

using train::ComputeType;

Autocast::Autocast(ComputeType compute) : active_(compute != ComputeType::kFloat32) {
  if (!active_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(at::kCPU);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, compute == ComputeType::kBfloat16 ? at::kBFloat16 : at::kHalf);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  // The casts of weights are of this forward: the optimizer writes them next.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, was_enabled_);
}

}  // namespace rekindle::models
