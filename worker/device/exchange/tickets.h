// Keeps what is known of the operations of an exchange, from their begin until all of them were waited for.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_TICKETS_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_TICKETS_H_

#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/comm/contract/work.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"

namespace rekindle::device {

// One thread begins operations and waits for them, and a thread of the exchange may end them. Only the first end of an
// operation has an effect.
class Tickets {
 public:
  // `device` must outlive the Tickets.
  explicit Tickets(Device& device) : device_(device) {}

  // Begins an operation that End() or EndAll() will end.
  Exchange::Ticket Begin();
  // Begins an operation that has ended once the communicator has ended all of `works`.
  Exchange::Ticket Begin(std::vector<comm::Work> works);

  // `written` is a mark behind all that the operation writes to the device.
  void End(Exchange::Ticket ticket, absl::Status status, Mark written);
  // Ends every operation that Begin() without works has begun or will begin.
  void EndAll(const absl::Status& status);
  // Returns whether all operations that Begin() without works has begun have ended.
  bool AllEnded();

  // Both are as those of an Exchange. Even if an operation failed, the compute queue comes after what it has written.
  absl::Status Wait(Exchange::Ticket ticket);
  absl::Status WaitAll();

 private:
  struct Entry {
    bool ended = false;
    absl::Status status;
    Mark written;
    std::vector<comm::Work> works;
  };
  // Returns null for an operation that was waited for by WaitAll().
  Entry* Find(Exchange::Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Device& device_;
  common::Mutex mutex_;
  common::CondVar changed_;
  // `entries_` has the operations since the last WaitAll(), and `first_` is the ticket of the first one.
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  Exchange::Ticket first_ ABSL_GUARDED_BY(mutex_) = 0;
  // `over_` is the error of EndAll().
  absl::Status over_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_TICKETS_H_
