// Collective communication between the trainers of one generation.
//
// A Communicator belongs to one generation and dies with it: the first error (a closed peer, a missed deadline,
// Abort()) ends every pending and later operation with the same status. Nobody repairs one; a new membership
// makes a new one.
//
// Ordering: all ranks issue the same collectives with the same sizes in the same order (as with NCCL on one
// stream). Operations run in the order of issue, off the caller's thread; a returned Work completes later.
// Buffers must stay valid and untouched until the Work is done, or the Communicator destroyed.
//
// Every all-reduce gives every rank the same bits. Integer sums are exact; float sums depend on the number of ranks.
//
// Thread safety: one thread issues operations; Abort(), status() and Work::Wait() may be called from any thread.
#ifndef REKINDLE_WORKER_COMM_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_COMMUNICATOR_H_

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

// Bytes of one element.
size_t SizeOf(DataType type);

// Why a peer is thought to have failed, as seen from this rank.
struct Accusation {
  enum class Kind { kClosed, kTimeout, kUnreachable };
  int rank = 0;
  Kind kind = Kind::kClosed;
  std::string detail;
};

// Completion of one operation. Copyable; all copies refer to the same operation. Thread-safe.
class Work {
 public:
  class State;
  Work() = default;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Blocks until the operation has ended; OK, or the error that ended the communicator.
  absl::Status Wait() const;
  bool Done() const;

 private:
  std::shared_ptr<State> state_;
};

// A device's execution queue (cudaStream_t); null means the host.
using Stream = void*;

// Time without any progress of a pending operation after which the slowest peer is accused.
// May be changed while running (the first step and state transfer have deadlines of their own).
struct Deadlines {
  double connect_seconds = 5;
  double progress_seconds = 2;
};

class Communicator {
 public:
  // Destruction aborts what is pending, joins the threads and closes the connections.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual int generation() const = 0;

  // out[i] = op over ranks of in[i]. `in` may equal `out`.
  virtual Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op,
                         Stream stream = nullptr) = 0;
  // `bytes` from `root`'s buffer to everyone's.
  virtual Work Broadcast(void* buffer, size_t bytes, int root, Stream stream = nullptr) = 0;
  // out[r * bytes .. (r+1) * bytes) = rank r's in.
  virtual Work AllGather(const void* in, void* out, size_t bytes, Stream stream = nullptr) = 0;
  // Point to point. They run in the order of issue with everything else, so pairs must be issued
  // consistently (a sends to b while b receives from a).
  virtual Work Send(const void* buffer, size_t bytes, int peer, Stream stream = nullptr) = 0;
  virtual Work Recv(void* buffer, size_t bytes, int peer, Stream stream = nullptr) = 0;

  // Ends the communicator with `why`; pending operations end at once, peers see a closed connection. Idempotent.
  virtual void Abort(absl::Status why) = 0;
  // Ends it in good order at a boundary all ranks agreed on: afterwards peers that close are no error.
  // Precondition: every issued operation is done. Idempotent.
  virtual void Close() = 0;

  // From now on; connect_seconds no longer matters. Thread-safe.
  virtual void SetDeadlines(const Deadlines& deadlines) = 0;

  // Seconds so far in which this rank had something to send to its successor and the link took nothing. 0 where that
  // cannot be told.
  virtual double send_blocked_seconds() const { return 0; }

  // OK, or the first error.
  virtual absl::Status status() const = 0;
  // Whom this rank holds responsible for the first error; empty after Abort() or without an error.
  virtual std::vector<Accusation> accusations() const = 0;
};

// Collective: returns when every rank has come here.
absl::Status Barrier(Communicator& communicator);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_COMMUNICATOR_H_
