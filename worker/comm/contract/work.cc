#include "worker/comm/contract/work.h"

namespace rekindle::comm {

absl::Status Work::Wait() const { return state_ ? state_->Wait() : absl::OkStatus(); }
bool Work::Done() const { return !state_ || state_->Done(); }

}  // namespace rekindle::comm
