// Defines the calls of NCCL that the CUDA plugin offers: a C table that is usable without a header of CUDA or NCCL.
//
// Each call returns a RekindleNcclResult. With kRekindleNcclFailed it writes a NUL-terminated reason of at most
// error_size - 1 bytes. One thread at a time uses a communicator, and no call blocks except `abort`. There is one
// exception to both: a table that is not NCCL's has no streams. Its `start` carries the operation out before it
// returns, on the thread of a queue, and `abort` ends it.
#ifndef REKINDLE_WORKER_COMM_NCCL_NCCL_API_H_
#define REKINDLE_WORKER_COMM_NCCL_NCCL_API_H_

#include <cstddef>
#include <cstdint>

inline constexpr std::size_t kRekindleNcclIdBytes = 128;

enum RekindleNcclResult { kRekindleNcclDone = 0, kRekindleNcclPending = 1, kRekindleNcclFailed = 2 };

struct RekindleNcclComm;

struct RekindleNcclOperation {
  enum Kind : std::uint32_t { kAllReduce, kBroadcast, kAllGather, kSend, kRecv };
  std::uint32_t kind;
  // `type` is the type of the operation's elements, a comm::DataType.
  std::uint32_t type;
  // `op` is a comm::ReduceOp. Only kAllReduce uses it.
  std::uint32_t op;
  // `peer` is the root of kBroadcast, or the other rank of kSend and kRecv.
  std::int32_t peer;
  // `in` and `out` are device memory.
  const void* in;
  void* out;
  // `count` is the number of elements of `in`.
  std::size_t count;
  // `stream` is the cudaStream_t on which the operation runs. It is null where there are no streams.
  void* stream;
};

struct RekindleNcclApi {
  // Sets *version to NCCL's number of its version, such as 22809 for 2.28.9. It fails where NCCL cannot be used.
  int (*version)(int* version, char* error, std::size_t error_size);
  // Makes the id by which the ranks of a communicator find each other. One rank makes the id and sends it to all.
  int (*make_id)(unsigned char* id, char* error, std::size_t error_size);
  // Begins to join an NCCL communicator as `rank` of `world` with a device, which becomes the calling thread's device.
  // If `join` does not fail, it sets *comm to the communicator.
  int (*join)(int device, int world, int rank, const unsigned char* id, RekindleNcclComm** comm, char* error,
              std::size_t error_size);
  // Puts an operation on its stream.
  int (*start)(RekindleNcclComm* comm, const RekindleNcclOperation* operation, char* error, std::size_t error_size);
  // Returns whether what the last call of `join`, `start` or `finish` began is done. Once it is done, `poll` returns
  // whether the communicator has failed since.
  int (*poll)(RekindleNcclComm* comm, char* error, std::size_t error_size);
  // Begins to end the communicator in good order, after all of this rank's operations: what peers still need is sent.
  // `poll` returns whether that is done, and `abort` has to follow.
  int (*finish)(RekindleNcclComm* comm, char* error, std::size_t error_size);
  // Ends what is pending on the device, whatever the communicator's state and whether or not its peers live. It may
  // never return, because NCCL waits for kernels that do not end. `release` then frees the communicator.
  void (*abort)(RekindleNcclComm* comm);
  void (*release)(RekindleNcclComm* comm);
};

#endif  // REKINDLE_WORKER_COMM_NCCL_NCCL_API_H_
