#include "worker/train/control/directive_box.h"

#include <chrono>
#include <utility>

namespace rekindle::train {

void DirectiveBox::Put(Directive directive) {
  const common::MutexLock lock(mutex_);
  directive_ = std::move(directive);
  ++version_;
  changed_.NotifyAll();
}

void DirectiveBox::Close() {
  const common::MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

Directive DirectiveBox::Latest() const {
  const common::MutexLock lock(mutex_);
  return directive_;
}

int64_t DirectiveBox::Version() const {
  const common::MutexLock lock(mutex_);
  return version_;
}

bool DirectiveBox::WaitForChange(int64_t seen, double seconds) const {
  common::MutexLock lock(mutex_);
  changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                   [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return version_ != seen || closed_; });
  return !closed_;
}

}  // namespace rekindle::train
