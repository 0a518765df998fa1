// Declares the interface to the device on which a rank's state lives and its step runs.
//
// Work is queued and runs later. The host goes on meanwhile, and learns by marks what has run. So three orders must be
// made by marks, and nothing else makes them: between two queues (After), before the host touches pinned memory that an
// operation used (Await), and before the host relies on an operation's outcome (Await). What the host did before it
// queued an operation is ordered before that operation.
//
// Errors of operations come back late, from any later call, and stay: a device with an error runs nothing any more, and
// its state is lost. Only a lack of memory, which Allocate returns at once, leaves it whole.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_DEVICE_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_DEVICE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/contract/memory.h"
#include "worker/device/contract/operation.h"
#include "worker/device/contract/place.h"
#include "worker/device/contract/queue.h"

namespace rekindle::device {

// Says whether the device can go on, and in the driver's words why not.
struct Health {
  enum class State {
    kFine,
    // The context is lost, with all memory in it. The process has to end, and another one may use the device.
    kContextLost,
    // The device does not answer any more. No process can use it.
    kDeviceLost
  };
  State state = State::kFine;
  std::string words;
};

// Memory that was reserved is given and taken away in units of `kCommitBytes` bytes.
inline constexpr int64_t kCommitBytes = 256 * 1024;

// Counts the bytes that are allocated now, and the most that were allocated at once.
struct AllocatedBytes {
  int64_t now = 0;
  int64_t peak = 0;
};

// A device is thread-safe, except that only one thread at a time may queue work on one queue of a device that is not
// the host. It must outlive its memory.
class Device {
 public:
  virtual ~Device() = default;

  // Returns whether the device is the processor itself. Its operations have run when Run() returns, and threads of the
  // host may go on to use the memory that an operation has given them.
  virtual bool IsHost() const = 0;

  // Allocate() and AllocatePinned() return memory whose content is undefined. `purpose` says in messages what the
  // memory is for. A rank allocates all that it needs at its start. Both return RESOURCE_EXHAUSTED, with the bytes, if
  // the memory does not fit.
  virtual absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) = 0;
  virtual absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) = 0;

  // Allocates memory that another process of this machine may have to read, such as one that runs the user's model. A
  // device that nobody reads so gives its usual memory.
  virtual absl::StatusOr<Memory> AllocateReadable(int64_t bytes, const std::string& purpose) {
    return Allocate(bytes, purpose);
  }

  // Reserves addresses for `bytes` bytes without memory behind them. No operation may use a part of them before
  // Commit() has given this part memory, whose content is undefined, or after Decommit() has taken it away. Decommit()
  // waits until every queue is empty. Both take parts of reserved memory that begin and end at multiples of
  // kCommitBytes, or at its end. Commit() returns RESOURCE_EXHAUSTED, as Allocate() does. A device may keep all of the
  // memory from Reserve() on.
  virtual absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) = 0;
  virtual absl::Status Commit(const Range& range) = 0;
  virtual void Decommit(const Range& range) = 0;

  // Returns how much of the device's memory is allocated. Both numbers are 0 if the memory is that of the processor,
  // which the system counts. Pinned memory does not count.
  virtual AllocatedBytes Allocated() const { return {}; }

  // Queues an operation. The memory of its ranges must stay until it has run.
  virtual void Run(Queue queue, Operation operation) = 0;
  // Returns a mark behind everything that was queued on this queue so far.
  virtual Mark Record(Queue queue) = 0;
  // Lets everything that will be queued on this queue wait until the mark has passed. The host does not wait.
  virtual void After(Queue queue, const Mark& mark, Place place = {}) = 0;

  // Returns whether the mark has passed. The host may then rely on what was queued before the mark.
  virtual absl::StatusOr<bool> Passed(const Mark& mark) = 0;
  // Waits until the mark has passed. Returns CANCELLED soon after `go_on` returns false. A null `go_on` waits for as
  // long as it takes. Passed and Await must not be called by an operation.
  virtual absl::Status Await(const Mark& mark, const std::function<bool()>& go_on, Place place = {}) = 0;

  // Gives up a queue whose work may never come to its end. Nobody may use the queue or wait for it any more, or touch
  // what its work may still write. What that work reads may be used again. From now on the end of memory waits only for
  // the other queues, and because a device that frees memory waits for all of them, it keeps that memory for later
  // allocations of the same size.
  virtual void Leave(Queue queue) = 0;

  virtual Health Look() = 0;
};

// Queues an operation and waits until it has run. Returns the error of the device, if it has one. Such an operation may
// use what lies on the caller's stack.
absl::Status RunAndAwait(Device& device, Queue queue, Operation operation);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_DEVICE_H_
