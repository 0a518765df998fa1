// The algorithms over a Mesh: rings of chunks for what is large (each byte crosses each link once a phase, chunks flow
// through all ranks at once), direct exchange for what is small (one hop).
//
// Ring all-reduce: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
//
// Every function runs on the communicator's thread and returns true, or false once the mesh has ended.
#ifndef REKINDLE_WORKER_COMM_COLLECTIVES_H_
#define REKINDLE_WORKER_COMM_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>

#include "worker/comm/communicator.h"
#include "worker/comm/mesh.h"

namespace rekindle::comm {

// What precedes each operation on each link it uses: ranks that disagree find out instead of mixing bytes.
struct OperationHeader {
  enum Kind : uint32_t { kAllReduce = 1, kBroadcast, kAllGather, kPointToPoint, kDevice };
  uint32_t kind = 0;
  uint32_t type = 0;
  uint32_t op = 0;
  int32_t root = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;     // Of the collectives of this generation; 0 for point to point.
  uint8_t padding[32] = {};  // To one line, so that the data after it is aligned.
};
static_assert(sizeof(OperationHeader) == 64);

bool AllReduce(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t count, DataType type,
               ReduceOp op);
bool Broadcast(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int root);
bool AllGather(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t bytes);
bool Send(Mesh& mesh, const OperationHeader& header, const void* buffer, size_t bytes, int peer);
bool Recv(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_COLLECTIVES_H_
