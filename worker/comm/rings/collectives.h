// Implements the algorithms over a Mesh. Large data goes around rings of chunks, where each byte crosses each link once
// per phase and chunks flow through all ranks at once. Small data is exchanged directly, in one hop.
//
// The ring all-reduce is from Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", 2009.
//
// Every function runs on the communicator's thread and returns true, or false once the mesh has ended.
#ifndef REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_
#define REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/rings/mesh.h"

namespace rekindle::comm {

// The header goes before each operation on each link that it uses. Ranks that disagree so find out, instead of mixing
// bytes.
struct OperationHeader {
  enum Kind : uint32_t { kAllReduce = 1, kBroadcast, kAllGather, kPointToPoint, kDevice };
  uint32_t kind = 0;
  uint32_t type = 0;
  uint32_t op = 0;
  int32_t root = 0;
  uint64_t bytes = 0;
  // `sequence` counts the collectives of this generation. It is 0 for point to point.
  uint64_t sequence = 0;
  // The padding fills a cache line, so that the data after the header is aligned.
  uint8_t padding[32] = {};
};
static_assert(sizeof(OperationHeader) == 64);

bool AllReduce(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t count, DataType type,
               ReduceOp op);
bool Broadcast(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int root);
bool AllGather(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t bytes);
bool Send(Mesh& mesh, const OperationHeader& header, const void* buffer, size_t bytes, int peer);
bool Recv(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_
