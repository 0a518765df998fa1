// What the CUDA plugin offers of NCCL: a C table, usable without a header of CUDA's or NCCL's.
//
// No call blocks but abort. Each returns a RekindleNcclResult; with kRekindleNcclFailed it writes a NUL-terminated
// reason of at most error_size - 1 bytes. A communicator is used by one thread at a time.
#ifndef REKINDLE_WORKER_COMM_NCCL_API_H_
#define REKINDLE_WORKER_COMM_NCCL_API_H_

#include <cstddef>
#include <cstdint>

inline constexpr std::size_t kRekindleNcclIdBytes = 128;

enum RekindleNcclResult { kRekindleNcclDone = 0, kRekindleNcclPending = 1, kRekindleNcclFailed = 2 };

struct RekindleNcclComm;

struct RekindleNcclOperation {
  enum Kind : std::uint32_t { kAllReduce, kBroadcast, kAllGather, kSend, kRecv };
  std::uint32_t kind;
  std::uint32_t type;  // comm::DataType
  std::uint32_t op;    // comm::ReduceOp, of kAllReduce.
  std::int32_t peer;   // The root of kBroadcast; the other rank of kSend and kRecv.
  const void* in;      // Device memory.
  void* out;
  std::size_t count;  // Elements of `in`.
  void* stream;       // cudaStream_t
};

struct RekindleNcclApi {
  // The id by which the ranks of a communicator find each other: made by one of them, given to all.
  int (*make_id)(unsigned char* id, char* error, std::size_t error_size);
  // Begins to join as `rank` of `world` with a device, which becomes the calling thread's. Sets *comm unless it fails.
  int (*join)(int device, int world, int rank, const unsigned char* id, RekindleNcclComm** comm, char* error,
              std::size_t error_size);
  // Puts an operation on its stream.
  int (*start)(RekindleNcclComm* comm, const RekindleNcclOperation* operation, char* error, std::size_t error_size);
  // After join or start was pending: is it done? Later: has the communicator failed meanwhile?
  int (*poll)(RekindleNcclComm* comm, char* error, std::size_t error_size);
  // Marks the end of what is on the stream now; `marked` tells when the device has come so far.
  int (*mark)(RekindleNcclComm* comm, void* stream, char* error, std::size_t error_size);
  int (*marked)(RekindleNcclComm* comm, char* error, std::size_t error_size);
  // Ends what is pending on the device and frees the communicator, whatever its state and whether peers live.
  void (*abort)(RekindleNcclComm* comm);
};

#endif  // REKINDLE_WORKER_COMM_NCCL_API_H_
