// Moves whole messages to and from several peers at once. All small collectives and point to point operations use it.
#ifndef REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_
#define REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_

#include <span>
#include <string>

#include "worker/comm/rings/collectives.h"

namespace rekindle::comm {

// Describes one message: the header, then `bytes` at `data`, which is read when sending and written when receiving.
struct Transfer {
  int peer = 0;
  bool send = false;
  std::byte* data = nullptr;
  size_t bytes = 0;
  // `moved` counts the bytes so far, including the header.
  size_t moved = 0;
  // `header` is the one that was received.
  OperationHeader header = {};
};

// Moves all transfers. Returns false once the mesh has ended, or if a peer's header differs from `header`.
bool RunTransfers(Mesh& mesh, const OperationHeader& header, std::span<Transfer> transfers);

// Returns true if both headers describe one operation. Otherwise it ends the mesh with a message that shows both.
bool CheckHeader(Mesh& mesh, const OperationHeader& mine, const OperationHeader& theirs, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_TRANSFERS_H_
