// Whole messages to and from several peers at once: the building block of everything small and of point to point.
#ifndef REKINDLE_WORKER_COMM_TRANSFERS_H_
#define REKINDLE_WORKER_COMM_TRANSFERS_H_

#include <span>
#include <string>

#include "worker/comm/collectives.h"

namespace rekindle::comm {

// One message: the header, then `bytes` at `data` (read when sending, written when receiving).
struct Transfer {
  int peer = 0;
  bool send = false;
  std::byte* data = nullptr;
  size_t bytes = 0;
  size_t moved = 0;             // Header included.
  OperationHeader header = {};  // Received.
};

// Moves all of them; false once the mesh has ended, or a peer's header differs from `header`.
bool RunTransfers(Mesh& mesh, const OperationHeader& header, std::span<Transfer> transfers);

// True if both describe one operation; else ends the mesh, naming both.
bool CheckHeader(Mesh& mesh, const OperationHeader& mine, const OperationHeader& theirs, int peer);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TRANSFERS_H_
