// Implements the collective operations over a Mesh. Large data goes around rings of chunks, where each byte crosses
// each link once per phase and chunks flow through all ranks at once. Small data is exchanged directly, in one hop.
//
// The ring all-reduce is from Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", 2009.
//
// Every function runs on the communicator's thread and returns true, or false once the mesh has ended.
#ifndef REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_
#define REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_

#include <cstddef>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/rings/mesh.h"
#include "worker/comm/rings/operation_header.h"

namespace rekindle::comm {

bool AllReduce(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t count, DataType type,
               ReduceOp op);
bool Broadcast(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int root);
bool AllGather(Mesh& mesh, const OperationHeader& header, const void* in, void* out, size_t bytes);
bool Send(Mesh& mesh, const OperationHeader& header, const void* buffer, size_t bytes, int peer);
bool Recv(Mesh& mesh, const OperationHeader& header, void* buffer, size_t bytes, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_COLLECTIVES_H_
