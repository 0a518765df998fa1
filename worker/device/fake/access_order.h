// Finds two accesses to the same memory that no mark orders, whatever the order in which they happened to run.
//
// Each queue and the host has a vector clock (Fidge, 1988; Mattern, 1989), as race detectors for threads have
// (FastTrack: Flanagan and Freund, PLDI 2009). An access is recorded when it is queued, because the order that the user
// has asked for is known then. So a report does not depend on the interleaving of this run.
#ifndef REKINDLE_WORKER_DEVICE_FAKE_ACCESS_ORDER_H_
#define REKINDLE_WORKER_DEVICE_FAKE_ACCESS_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/device/contract/operation.h"
#include "worker/device/contract/queue.h"

namespace rekindle::device {

// Holds a vector clock: for each queue, and last for the host, how many of its events come before a point in the
// program.
using VectorClock = std::array<int64_t, kQueues + 1>;
// Adds to `to` all that comes before `from`.
void Join(const VectorClock& from, VectorClock* to);

// The class is thread-compatible.
class AccessOrder {
 public:
  // Notes an operation, with its ranges, behind all that was queued on its queue and all that the host knows. Returns
  // what comes before what this operation may queue itself.
  VectorClock Launch(Queue queue, const Operation& operation);
  // Notes an operation that another one of the same queue has queued while it ran, so that it is a part of that one.
  // `clock` is what comes before it.
  void LaunchWithin(Queue queue, const Operation& operation, const VectorClock& clock);
  // Notes that the host reads or writes a range of pinned memory.
  void TouchByHost(const Range& range, bool writes);

  // Returns what comes before a mark that is recorded now.
  VectorClock Record(Queue queue) const;
  // Orders what the queue will be given after what comes before the mark.
  void After(Queue queue, const VectorClock& mark);
  // Orders what the host will do after what comes before the mark.
  void Await(const VectorClock& mark);
  // Orders what the host will do after all that was queued so far, except on queues that were left.
  void AwaitAll();
  // Forgets what the queue has read, because nobody needs the outcome of its work any more. What it has written stays
  // without an order for ever.
  void Leave(Queue queue);
  // Forgets a block that is freed.
  void Forget(const Block* block) { accesses_.erase(block); }

  // Returns a sentence for each pair of accesses that no mark orders, at most kMostReports.
  const std::vector<std::string>& reports() const { return reports_; }

  static constexpr size_t kMostReports = 20;

 private:
  // Names the operation that made an access. `count` is how many events its queue (or the host) had had by then.
  struct Access {
    int64_t count = 0;
    const char* name = "";
  };
  // Holds the last accesses to each byte of a part of a block.
  struct Part {
    int64_t end = 0;
    size_t writer = 0;
    Access write;
    std::array<Access, kQueues + 1> reads;
  };
  using Parts = std::map<int64_t, Part>;

  void Touch(size_t who, const VectorClock& clock, const char* name, const Range& range, bool writes);
  void Check(size_t who, const VectorClock& clock, const char* name, bool writes, const Range& range, size_t other,
             const Access& before, bool wrote);
  // Cuts the parts so that one begins at `offset`.
  static void CutAt(Parts& parts, int64_t offset, int64_t block_bytes);

  std::array<VectorClock, kQueues + 1> clocks_ = {};
  std::array<bool, kQueues> left_ = {};
  std::map<const Block*, Parts> accesses_;
  std::vector<std::string> reports_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_FAKE_ACCESS_ORDER_H_
