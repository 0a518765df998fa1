// Makes the exchanges of a rank, one for each generation.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/nccl/nccl_api.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/device/exchange/transport.h"

namespace rekindle::device {

// Says what a rank needs for NCCL.
struct NcclParts {
  // `api` is the table of NCCL's calls. It is null where there is none.
  const RekindleNcclApi* api = nullptr;
  // `gpu` is CUDA's number of the rank's GPU.
  int gpu = 0;
};

// ExchangeMaker is thread-compatible.
class ExchangeMaker {
 public:
  // `device` must outlive the ExchangeMaker.
  ExchangeMaker(Device& device, const NcclParts& nccl) : device_(device), nccl_(nccl) {}
  // Waits for the ends of NCCL's communicators, but not for long.
  ~ExchangeMaker();
  ExchangeMaker(const ExchangeMaker&) = delete;
  ExchangeMaker& operator=(const ExchangeMaker&) = delete;

  // Allocates what the exchanges need on a device that is not the host. No operation may have more than `most_bytes`
  // bytes.
  absl::Status Allocate(int64_t most_bytes);

  // Makes the exchange of one communicator. Both the communicator and the ExchangeMaker must outlive it, and an
  // exchange must have ended before the next one is made. REQUIRES: Allocate() returned OK, and all ranks name the same
  // transport, which is kNccl only if all have NCCL.
  std::unique_ptr<Exchange> Make(comm::Communicator& communicator, Transport transport);

 private:
  Device& device_;
  const NcclParts nccl_;
  // `ending_` has the sessions of NCCL whose end was begun by their exchanges.
  std::vector<std::shared_ptr<comm::NcclSession>> ending_;
  // Through `staging_` pieces pass between the device and the communicator.
  PinnedMemory staging_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
