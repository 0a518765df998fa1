// Runs the data flow behind every ring. Bytes come from the previous rank, are reduced or stored, and go on to the next
// rank. The data flows chunk by chunk, and each rank sends and receives at once.
#ifndef REKINDLE_WORKER_COMM_RINGS_RING_PASS_H_
#define REKINDLE_WORKER_COMM_RINGS_RING_PASS_H_

#include <cstddef>
#include <vector>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/rings/mesh.h"
#include "worker/comm/rings/operation_header.h"

namespace rekindle::comm {

// Describes what a rank sends to the next rank of the ring: a range of the buffer, in bytes.
struct RingSend {
  size_t offset = 0;
  size_t bytes = 0;
  // `brought_by` is the index of the receive that brings this range of bytes. It is -1 if the range lies in `first`
  // from the start.
  int brought_by = -1;
};

// Describes what a rank receives from the previous rank of the ring, and where it goes.
struct RingReceive {
  size_t offset = 0;
  size_t bytes = 0;
  // If `reduce` is set, the received data is reduced with `in`. Otherwise it is stored.
  bool reduce = false;
};

// Describes one rank's part in a ring. The rank makes its sends one after the other, and at the same time its receives
// one after the other. The sends of one rank are the receives of the next.
struct RingPass {
  // `prev` is the previous rank of the ring, or -1 if nothing is received.
  int prev = -1;
  // `next` is the next rank of the ring, or -1 if nothing is sent.
  int next = -1;
  // `first` is the buffer with the bytes that the rank can send without having received them.
  const std::byte* first = nullptr;
  // `in` is an operand of the reduction and may equal `out`.
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::vector<RingSend> sends;
  std::vector<RingReceive> receives;
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
};

// Runs one rank's part in a ring. Returns false once the mesh has ended, or if the previous rank's header differs.
bool RunRingPass(Mesh& mesh, const OperationHeader& header, const RingPass& pass);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_RING_PASS_H_
