// The pump behind every ring: bytes come from the previous rank, are reduced or stored, and go on to the next, chunk
// by chunk, both directions at once.
#ifndef REKINDLE_WORKER_COMM_RING_PASS_H_
#define REKINDLE_WORKER_COMM_RING_PASS_H_

#include <cstddef>
#include <vector>

#include "worker/comm/collectives.h"

namespace rekindle::comm {

// A range of the output buffer, in bytes.
struct Segment {
  size_t offset = 0;
  size_t bytes = 0;
};

// Step s sends sends[s] while receiving recvs[s]. sends[s + 1] is what recvs[s] has brought: the same segment.
struct RingPass {
  int prev = -1;                     // -1: nothing is received.
  int next = -1;                     // -1: nothing is sent.
  const std::byte* first = nullptr;  // Where sends[0] lies: the whole buffer's start.
  const std::byte* in = nullptr;     // Operand of the reduction; may equal `out`.
  std::byte* out = nullptr;
  std::vector<Segment> sends;
  std::vector<Segment> recvs;
  size_t reduce_steps = 0;  // The first so many received segments are reduced with `in`, the others stored.
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
};

// False once the mesh has ended, or the previous rank's header differs.
bool RunRingPass(Mesh& mesh, const OperationHeader& header, const RingPass& pass);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RING_PASS_H_
