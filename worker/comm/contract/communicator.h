// Defines the collective communication between the trainers of one generation.
//
// A Communicator belongs to one generation and dies with it. The first error (a closed peer, a missed deadline,
// Abort()) ends every pending and later operation with the same status. A communicator is never repaired. A new
// membership makes a new one.
//
// Ordering: all ranks issue the same collectives with the same sizes in the same order (as with NCCL on one stream).
// Operations run in the order of issue, off the caller's thread, and a returned Work completes later. Buffers must stay
// valid and untouched until the Work is done or the Communicator is destroyed.
//
// Every all-reduce gives every rank the same bits. Integer sums are exact. Float sums depend on the number of ranks.
//
// Thread safety: one thread issues operations. Abort(), status() and Work::Wait() may be called from any thread.
#ifndef REKINDLE_WORKER_COMM_CONTRACT_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_CONTRACT_COMMUNICATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::comm {

enum class DataType { kUint8, kInt64, kFloat32, kBfloat16 };
enum class ReduceOp { kSum, kMax };

// Returns the bytes of one element.
size_t SizeOf(DataType type);

// Says why a peer is thought to have failed, as seen from this rank.
struct Accusation {
  enum class Kind { kClosed, kTimeout, kUnreachable };
  int rank = 0;
  Kind kind = Kind::kClosed;
  std::string detail;
};

// Stands for the completion of one operation. All copies refer to the same operation. The class is thread-safe.
class Work {
 public:
  class State;
  Work() = default;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Blocks until the operation has ended. Returns OK, or the error that ended the communicator.
  absl::Status Wait() const;
  bool Done() const;

 private:
  std::shared_ptr<State> state_;
};

// A Stream is a device's execution queue (cudaStream_t). Null means the host.
using Stream = void*;

// If a pending operation makes no progress for `progress_seconds`, the slowest peer is accused. The deadlines may be
// changed while the communicator runs, because the first step and state transfer have deadlines of their own.
struct Deadlines {
  double connect_seconds = 5;
  double progress_seconds = 2;
};

class Communicator {
 public:
  // The destructor aborts what is pending, joins the threads and closes the connections.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual int generation() const = 0;

  // Sets each out[i] to the reduction by `op` of in[i] over all ranks. `in` may equal `out`.
  virtual Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op,
                         Stream stream = nullptr) = 0;
  // Copies `bytes` bytes from the buffer of `root` to the buffers of all ranks.
  virtual Work Broadcast(void* buffer, size_t bytes, int root, Stream stream = nullptr) = 0;
  // Copies the `in` of each rank r to out[r * bytes .. (r+1) * bytes) at every rank.
  virtual Work AllGather(const void* in, void* out, size_t bytes, Stream stream = nullptr) = 0;
  // Send() and Recv() are point to point. They run in the order of issue with all other operations, so pairs must be
  // issued consistently (a sends to b while b receives from a).
  virtual Work Send(const void* buffer, size_t bytes, int peer, Stream stream = nullptr) = 0;
  virtual Work Recv(void* buffer, size_t bytes, int peer, Stream stream = nullptr) = 0;

  // Ends the communicator with `why`. Pending operations end at once, and peers see a closed connection. This is
  // idempotent.
  virtual void Abort(absl::Status why) = 0;
  // Ends the communicator in good order at a boundary that all ranks agreed on. Afterwards peers that close are no
  // error. This is idempotent. REQUIRES: every issued operation is done.
  virtual void Close() = 0;

  // Sets the deadlines from now on. `connect_seconds` no longer matters. This is thread-safe.
  virtual void SetDeadlines(const Deadlines& deadlines) = 0;

  // Returns the seconds so far in which this rank had something to send to its successor and the link took nothing.
  // Returns 0 if the transport cannot measure that.
  virtual double send_blocked_seconds() const { return 0; }

  // Returns OK or the first error.
  virtual absl::Status status() const = 0;
  // Returns whom this rank holds responsible for the first error. The list is empty after Abort() or without an error.
  virtual std::vector<Accusation> accusations() const = 0;
};

// Returns when every rank has called it. This is a collective operation.
absl::Status Barrier(Communicator& communicator);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONTRACT_COMMUNICATOR_H_
