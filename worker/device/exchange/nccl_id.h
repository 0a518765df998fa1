// Lets the ranks of a generation know the id by which they join one communicator of NCCL.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_ID_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_ID_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/contract/work.h"
#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::device {

// Rank 0 makes the id and sends it to all others. The class is thread-compatible.
class NcclId {
 public:
  using Bytes = std::array<unsigned char, kRekindleNcclIdBytes>;

  // Begins to send the id. `communicator` must outlive the NcclId.
  NcclId(comm::Communicator& communicator, const RekindleNcclApi& nccl);
  // Waits for the broadcast, which ends at the latest with the communicator.
  ~NcclId();
  NcclId(const NcclId&) = delete;
  NcclId& operator=(const NcclId&) = delete;

  // Waits for the id. Returns the error of the communicator, or INTERNAL if rank 0 could not make an id.
  absl::StatusOr<Bytes> Await() const;

 private:
  struct Message {
    uint32_t made = 0;
    Bytes id = {};
    char error[124] = {};
  };
  static_assert(sizeof(Message) == 256);

  const bool is_root_;
  Message message_;
  comm::Work sent_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_ID_H_
