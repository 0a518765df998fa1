// Moves whole messages to and from several peers at once. All small collectives and point to point operations use it.
#ifndef REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_
#define REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_

#include <cstddef>
#include <span>

#include "worker/comm/rings/mesh.h"
#include "worker/comm/rings/operation_header.h"

namespace rekindle::comm {

// Describes one message to or from a peer: the header, then `bytes` at `data`, which is read when sending and written
// when receiving.
struct Transfer {
  int peer = 0;
  bool send = false;
  std::byte* data = nullptr;
  size_t bytes = 0;
  // `moved` counts the bytes of the message so far, including the header.
  size_t moved = 0;
  // `header` is the header that the peer sent.
  OperationHeader header = {};
};

// Moves all transfers to their end. Returns false once the mesh has ended, or if a peer's header differs from `header`.
bool RunTransfers(Mesh& mesh, const OperationHeader& header, std::span<Transfer> transfers);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_
