// Describes the parts of which an exchange by NCCL consists, and makes them operations of a device.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_PIECE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_PIECE_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/nccl/nccl_api.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/contract/memory.h"
#include "worker/device/contract/operation.h"

namespace rekindle::device {

// Is one operation of NCCL's.
struct NcclPiece {
  RekindleNcclOperation::Kind kind = RekindleNcclOperation::kAllReduce;
  comm::DataType type = comm::DataType::kUint8;
  // `peer` is as in RekindleNcclOperation.
  int peer = 0;
  // `in` or `out` has no block where this rank does not read or write.
  Range in, out;

  int64_t bytes() const { return out.block != nullptr ? out.bytes : in.bytes; }
  // Returns one bit for each rank that an operation point to point waits for, and 0 for a collective.
  uint64_t waits_for() const;
};

// Cuts an operation into the pieces in which every rank exchanges it.
std::deque<NcclPiece> PiecesOf(const NcclPiece& whole);

// Returns the operation of the exchange queue that starts the piece. It succeeds even if NCCL fails, which is no error
// of the device: the session keeps NCCL's error.
Operation OperationOf(const NcclPiece& piece, const std::shared_ptr<comm::NcclSession>& session);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_PIECE_H_
