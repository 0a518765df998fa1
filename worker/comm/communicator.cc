#include "worker/comm/communicator.h"

#include "worker/comm/work_state.h"

namespace rekindle::comm {

size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return 1;
    case DataType::kInt64:
      return 8;
    case DataType::kFloat32:
      return 4;
  }
  return 1;
}

absl::Status Work::Wait() const { return state_ ? state_->Wait() : absl::OkStatus(); }
bool Work::Done() const { return !state_ || state_->Done(); }

}  // namespace rekindle::comm
