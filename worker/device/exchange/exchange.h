// Exchanges what lies in the memory of the ranks' devices.
//
// Operations run in the order in which they were begun, as those of a communicator do, and while they run the computing
// goes on. Ranks whose devices differ can exchange with each other, because every Exchange cuts an operation into the
// same pieces.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/transport.h"

namespace rekindle::device {

// A piece of a reduction has at most `kMostReducedBytes` bytes, and a piece that is only moved `kMostMovedBytes`.
inline constexpr int64_t kMostReducedBytes = 32 << 20;
inline constexpr int64_t kMostMovedBytes = 4 << 20;

// An Exchange belongs to one communicator, and nobody else may issue operations of that communicator until all that
// was begun has been waited for. Only one thread at a time may use it, except that operations of the compute queue may
// begin operations.
class Exchange {
 public:
  // Names an operation, so that it can be waited for.
  using Ticket = size_t;

  // Ends when no operation uses memory any more. REQUIRES: every operation was waited for, or the communicator has
  // ended.
  virtual ~Exchange() = default;

  // Each operation reads and writes its ranges after all that the compute queue has been given so far. Until it was
  // waited for, nobody may change what it reads or use what it writes. The ranges and `type` are as for the operation
  // of the communicator that has the same name. `in` may be equal to `out`.
  virtual Ticket AllReduce(const Range& in, const Range& out, comm::DataType type) = 0;
  virtual Ticket Broadcast(const Range& buffer, int root) = 0;
  virtual Ticket Send(const Range& from, int peer) = 0;
  virtual Ticket Recv(const Range& to, int peer) = 0;
  // Gathers memory of the host, in the same order as the other operations.
  virtual Ticket AllGather(const void* in, void* out, size_t bytes) = 0;

  // Waits until the operation has ended. What the compute queue is given afterwards comes after it. Returns the error
  // that ended the communicator or the device.
  virtual absl::Status Wait(Ticket ticket) = 0;
  // Waits for all that was begun and not waited for yet. Returns the first error.
  virtual absl::Status WaitAll() = 0;

  virtual comm::Communicator& communicator() = 0;
  virtual Transport transport() const = 0;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_H_
