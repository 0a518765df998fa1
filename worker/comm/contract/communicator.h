// Defines the collective communication between the trainers of one generation, from memory of the host to memory of the
// host.
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
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/contract/device_lane.h"
#include "worker/comm/contract/work.h"

namespace rekindle::comm {

enum class DataType { kUint8, kInt64, kFloat32, kBfloat16 };
enum class ReduceOp { kSum, kMax };

// Returns the size of one element of the type, in bytes.
size_t SizeOf(DataType type);

// Says why a peer is thought to have failed, as seen from this rank.
struct Accusation {
  enum class Kind { kClosed, kTimeout, kUnreachable };
  int rank = 0;
  Kind kind = Kind::kClosed;
  std::string detail;
};

// If a pending operation makes no progress for `progress_seconds`, the slowest peer is accused. The deadlines may be
// changed while the communicator runs, because a job's first step and the transfer of its state have deadlines of their
// own.
struct Deadlines {
  double connect_seconds = 5;
  double progress_seconds = 2;
};

class Communicator {
 public:
  // The destructor aborts pending operations, joins the communicator's threads and closes its connections.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual int generation() const = 0;

  // Sets out[i], for each i, to the reduction by `op` of in[i] over all ranks. `in` may equal `out`.
  virtual Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op) = 0;
  // Copies `bytes` bytes from the buffer of `root` to the buffers of all ranks.
  virtual Work Broadcast(void* buffer, size_t bytes, int root) = 0;
  // Copies the `in` of each rank r to out[r * bytes .. (r+1) * bytes) at every rank.
  virtual Work AllGather(const void* in, void* out, size_t bytes) = 0;
  // Send() and Recv() are point to point. They run in the order of issue with all other operations, so pairs must be
  // issued consistently (a sends to b while b receives from a).
  virtual Work Send(const void* buffer, size_t bytes, int peer) = 0;
  virtual Work Recv(void* buffer, size_t bytes, int peer) = 0;

  // Ends the communicator with `why`. Pending operations end at once, and peers see a closed connection. Abort() is
  // idempotent.
  virtual void Abort(absl::Status why) = 0;
  // Ends the communicator in good order at a boundary that all ranks agreed on. Afterwards it is no error if a peer
  // closes its connection. Close() is idempotent. REQUIRES: every issued operation is done.
  virtual void Close() = 0;

  // Sets the deadlines of a communicator that runs, where `connect_seconds` no longer matters. SetDeadlines() is
  // thread-safe.
  virtual void SetDeadlines(const Deadlines& deadlines) = 0;

  // Returns where this rank notes how far its device has come in an exchange that does not go through the communicator.
  // An operation there that stands still ends the communicator as one of its own does.
  virtual DeviceLane& device_lane() = 0;

  // Returns the seconds so far in which this rank had something to send to its successor and the link took nothing.
  // Returns 0 if the transport cannot measure the time.
  virtual double send_blocked_seconds() const { return 0; }

  // Returns OK, or the first error, which ended the communicator.
  virtual absl::Status status() const = 0;
  // Returns whom this rank holds responsible for the first error. The list is empty after Abort() or without an error.
  virtual std::vector<Accusation> accusations() const = 0;
};

// Returns when every rank has called Barrier(). It is a collective operation.
absl::Status Barrier(Communicator& communicator);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONTRACT_COMMUNICATOR_H_
