// The newest events of the cluster and of the jobs that are looked at, read from the coordinator once.
#ifndef REKINDLE_COORDINATOR_WEB_EVENT_TAILS_H_
#define REKINDLE_COORDINATOR_WEB_EVENT_TAILS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/web/source.h"

namespace rekindle::coordinator::web {

// Thread-safe.
class EventTails {
 public:
  static constexpr size_t kEvents = 300;  // A tail has at most so many.
  static constexpr size_t kTails = 64;    // The jobs that were asked for last have one.
  static constexpr int kAtOnce = 500;     // Events of one question to the coordinator.

  explicit EventTails(Source* source) : source_(source) {}

  // The newest events of a job by name, or with an empty name of all, after revision `after`; the oldest first.
  absl::StatusOr<std::vector<v1::Event>> Newest(const std::string& job, int32_t after);

 private:
  struct Tail {
    std::string job;
    std::mutex mutex;
    std::deque<v1::Event> events;  // Under mutex, as is the rest.
    int32_t read_to = -1;          // Revision; negative: nothing was read yet.
  };
  std::shared_ptr<Tail> Find(const std::string& job);
  // Both add what the coordinator has beyond tail.read_to.
  absl::Status Begin(Tail& tail);
  absl::Status ReadOn(Tail& tail);

  Source* const source_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Tail>> tails_;  // The one that was asked for last comes first.
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_EVENT_TAILS_H_
