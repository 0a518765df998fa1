// Holds the header of an operation, by which the ranks check that they all run the same operation.
#ifndef REKINDLE_WORKER_COMM_RINGS_OPERATION_HEADER_H_
#define REKINDLE_WORKER_COMM_RINGS_OPERATION_HEADER_H_

#include <cstdint>

#include "worker/comm/rings/mesh.h"

namespace rekindle::comm {

// Each rank sends an operation's header before its data, on each link that the operation uses. So ranks that disagree
// about the operation find out, instead of mixing bytes.
struct OperationHeader {
  enum Kind : uint32_t { kAllReduce = 1, kBroadcast, kAllGather, kPointToPoint };
  uint32_t kind = 0;
  uint32_t type = 0;
  uint32_t op = 0;
  int32_t root = 0;
  uint64_t bytes = 0;
  // `sequence` counts the collectives of this generation. It is 0 for an operation point to point.
  uint64_t sequence = 0;
  // `padding` fills a cache line, so that the data after the header is aligned.
  uint8_t padding[32] = {};
};
static_assert(sizeof(OperationHeader) == 64);

// Returns true if the headers of both ranks describe the same operation. Otherwise it ends the mesh with a message that
// shows both.
bool CheckHeader(Mesh& mesh, const OperationHeader& mine, const OperationHeader& theirs, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_OPERATION_HEADER_H_
