// Takes what other threads hand to the loop.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_INBOX_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_INBOX_H_

#include "absl/status/status.h"
#include "coordinator/server/loop/core_clock.h"
#include "coordinator/server/loop/item_queue.h"
#include "coordinator/server/loop/loop_items.h"

namespace rekindle::coordinator {

// LoopInbox is thread-safe. Replies come on the loop's thread, or at once when the queue is full or the loop has
// stopped.
class LoopInbox {
 public:
  // A poll waits for at most `kMaxWaitSeconds` seconds.
  static constexpr double kMaxWaitSeconds = 30;

  // The caller keeps the ownership of the clock. The inbox reads only its steady time.
  explicit LoopInbox(const CoreClock* clock) : clock_(clock) {}

  void Sync(v1::TrainerReport report, TrainerPolls::Reply reply);
  void Sync(v1::NodeReport report, NodePolls::Reply reply, NodePolls::Alive alive);
  void Apply(Mutation mutation);
  void SetPrices(core::PriceBook prices);
  void HearPrice(core::PriceHeard heard);
  void SetCarbon(core::CarbonBook carbon);
  // Hands in what a provider reports of a pool. While the store fails, the report is kept until the core can act on it.
  void Report(core::PoolReported report);
  // Runs `task` on the loop's thread. UNAVAILABLE means that the loop has stopped or has too much to do, and that the
  // task will not run.
  absl::Status Post(LoopTask task);

  // Returns the queue, from which only the loop takes items.
  ItemQueue& queue() { return queue_; }

 private:
  const CoreClock* const clock_;
  ItemQueue queue_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_INBOX_H_
