// Names the queues of a device, and the marks by which one queue or the host waits for another.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_QUEUE_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_QUEUE_H_

#include <cstddef>
#include <memory>

namespace rekindle::device {

// A queue runs its operations one after the other, in the order in which they were queued. Two queues know nothing of
// each other: their operations may run in any order, or at once, unless a mark orders them.
enum class Queue {
  // Forward, backward, sums and the optimizer run on `kCompute`.
  kCompute,
  // The exchange between ranks runs on `kExchange`, so that it can be ended without ending the computing.
  kExchange,
  // NCCL's operations run on `kNccl`, because they may never come to their end.
  kNccl,
  // Copies of the state for a checkpoint run on `kSnapshot`.
  kSnapshot
};
inline constexpr size_t kQueues = 4;

const char* NameOf(Queue queue);

// Holds what a device knows of a mark. Each device derives its own from it.
class MarkState {
 public:
  virtual ~MarkState() = default;
};

// Names a place in a queue: everything that was queued there before the mark was recorded. A mark that was never
// recorded has always passed. Marks are values that may be copied and passed between threads.
struct Mark {
  std::shared_ptr<MarkState> state;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_QUEUE_H_
