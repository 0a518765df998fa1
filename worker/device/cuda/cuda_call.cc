#include "worker/device/cuda/cuda_call.h"

#include "worker/device/cuda/cuda_errors.h"

namespace rekindle::device {

absl::Status CudaError::Note(const CudaOutcome& outcome) {
  if (outcome.code == 0) return absl::OkStatus();
  if (IsOutOfDeviceMemory(outcome.code)) return absl::ResourceExhaustedError(outcome.words);
  return Break(StateAfter(outcome.code), outcome.words);
}

absl::Status CudaError::Break(Health::State state, const std::string& words) {
  const common::MutexLock lock(mutex_);
  if (health_.state == Health::State::kFine) health_ = {.state = state, .words = words};
  return absl::InternalError(health_.words);
}

absl::Status CudaError::status() {
  const common::MutexLock lock(mutex_);
  return health_.state == Health::State::kFine ? absl::OkStatus() : absl::InternalError(health_.words);
}

Health CudaError::health() {
  const common::MutexLock lock(mutex_);
  return health_;
}

}  // namespace rekindle::device
