// Holds the newest directive, so that any thread can read it and wait for a newer one.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_BOX_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_BOX_H_

#include <cstdint>

#include "common/sync/mutex.h"
#include "worker/train/control/directive.h"

namespace rekindle::train {

// DirectiveBox is thread-safe. It calls no other code while it holds its lock.
class DirectiveBox {
 public:
  // Replaces the directive in the box and wakes every thread that waits for a newer one.
  void Put(Directive directive);
  // Ends all waits, present and later ones, because no newer directive can come any more.
  void Close();

  // Returns the newest directive. Its action is kNone before the first Put().
  Directive Latest() const;
  // Returns the version of the directive, a number that grows with each Put().
  int64_t Version() const;
  // Waits until Version() differs from `seen`, until the box is closed, or until `seconds` have passed. Returns false
  // if the box is closed.
  bool WaitForChange(int64_t seen, double seconds) const;

 private:
  mutable common::Mutex mutex_;
  mutable common::CondVar changed_;
  Directive directive_ ABSL_GUARDED_BY(mutex_);
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_BOX_H_
