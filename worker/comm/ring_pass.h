// The pump behind every ring: bytes come from the previous rank, are reduced or stored, and go on to the next, chunk
// by chunk, both directions at once.
#ifndef REKINDLE_WORKER_COMM_RING_PASS_H_
#define REKINDLE_WORKER_COMM_RING_PASS_H_

#include <cstddef>
#include <vector>

#include "worker/comm/collectives.h"

namespace rekindle::comm {

// What goes to the next rank: a range of the buffer, in bytes.
struct RingSend {
  size_t offset = 0;
  size_t bytes = 0;
  int brought_by = -1;  // Index of the receive that brings this very range; -1: it lies in `first` from the start.
};

// What comes from the previous rank, and where it goes.
struct RingReceive {
  size_t offset = 0;
  size_t bytes = 0;
  bool reduce = false;  // With `in`; else it is stored.
};

// Sends and receives run in their orders, side by side. The sends of one rank are the receives of the next.
struct RingPass {
  int prev = -1;                     // -1: nothing is received.
  int next = -1;                     // -1: nothing is sent.
  const std::byte* first = nullptr;  // The buffer that is sent from the start.
  const std::byte* in = nullptr;     // Operand of the reduction; may equal `out`.
  std::byte* out = nullptr;
  std::vector<RingSend> sends;
  std::vector<RingReceive> receives;
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
};

// False once the mesh has ended, or the previous rank's header differs.
bool RunRingPass(Mesh& mesh, const OperationHeader& header, const RingPass& pass);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RING_PASS_H_
