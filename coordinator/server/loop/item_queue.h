// Holds what has arrived for the loop until its thread takes it.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_ITEM_QUEUE_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_ITEM_QUEUE_H_

#include <vector>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "coordinator/server/loop/loop_items.h"

namespace rekindle::coordinator {

// ItemQueue is thread-safe.
class ItemQueue {
 public:
  static constexpr size_t kMost = 100'000;

  // Adds the item. If the queue does not take it, returns an error that says why, and the item stays with the caller.
  absl::Status Add(LoopItem& item);
  // Adds `last` as the last item. From now on Add returns `why`, which is FAILED_PRECONDITION.
  void Supersede(const absl::Status& why, LoopTask last);
  // Makes Add return UNAVAILABLE from now on, and lets nobody wait in Await.
  void Stop();

  struct Taken {
    std::vector<LoopItem> items;
    // `ended` is the error that Add returns if the queue takes nothing any more, and otherwise OK.
    absl::Status ended;
  };
  // Waits until there is an item or the queue is stopped, but at most for `seconds`, which may be infinite.
  Taken Await(double seconds);

  // Returns why the coordinator was superseded, or OK when it was not.
  absl::Status superseded() const;

 private:
  absl::Status Ended() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable common::Mutex mutex_;
  common::CondVar arrived_;
  std::vector<LoopItem> items_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status superseded_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_ITEM_QUEUE_H_
