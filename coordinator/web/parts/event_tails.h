// Keeps the newest events of the cluster and of the jobs that viewers look at, so that each event is read from the
// coordinator once.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_EVENT_TAILS_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_EVENT_TAILS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "coordinator/web/parts/source.h"

namespace rekindle::coordinator::web {

// EventTails is thread-safe.
class EventTails {
 public:
  // A tail has at most `kEvents` events, the newest ones of a job or of the cluster.
  static constexpr size_t kEvents = 300;
  // `kTails` jobs have a tail: those that were asked for last.
  static constexpr size_t kTails = 64;
  // One question to the coordinator returns at most `kAtOnce` events.
  static constexpr int kAtOnce = 500;

  explicit EventTails(Source* source) : source_(source) {}

  // Returns the newest events after revision `after`, the oldest first. `job` is a job's name, or empty for the events
  // of all jobs.
  absl::StatusOr<std::vector<v1::Event>> Newest(const std::string& job, int32_t after);

 private:
  struct Tail {
    std::string job;
    common::Mutex mutex;
    std::deque<v1::Event> events ABSL_GUARDED_BY(mutex);
    // `read_to` is the revision up to which the events were read. It is negative while nothing was read yet.
    int32_t read_to ABSL_GUARDED_BY(mutex) = -1;
  };
  std::shared_ptr<Tail> Find(const std::string& job);
  // Begin and ReadOn add the coordinator's events after `tail.read_to` to the tail.
  absl::Status Begin(Tail& tail) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tail.mutex);
  absl::Status ReadOn(Tail& tail) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tail.mutex);

  Source* const source_;
  common::Mutex mutex_;
  // `tails_` has the tails of jobs, and that of the cluster. The first one is the tail that was asked for last.
  std::list<std::shared_ptr<Tail>> tails_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_EVENT_TAILS_H_
