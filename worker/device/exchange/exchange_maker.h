// Makes the exchanges of a rank, one for each generation.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/comm/contract/communicator.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/device/exchange/nccl_exchange.h"
#include "worker/device/exchange/transport.h"

namespace rekindle::device {

// ExchangeMaker is thread-compatible.
class ExchangeMaker {
 public:
  // `device` must outlive the ExchangeMaker.
  ExchangeMaker(Device& device, const NcclParts& nccl) : device_(device), nccl_(nccl) {}
  // Waits for the ends of NCCL's communicators, but not for long.
  ~ExchangeMaker();
  ExchangeMaker(const ExchangeMaker&) = delete;
  ExchangeMaker& operator=(const ExchangeMaker&) = delete;

  // Allocates what the exchanges need. No operation may have more than `most_bytes` bytes.
  absl::Status Allocate(int64_t most_bytes);

  // Makes the exchange of one communicator. Both the communicator and the ExchangeMaker must outlive it, and an
  // exchange must have ended before the next one is made. REQUIRES: Allocate() returned OK, and all ranks name the same
  // transport. Returns FAILED_PRECONDITION for kNccl if this rank has no NCCL or does not use it any more.
  absl::StatusOr<std::unique_ptr<Exchange>> Make(comm::Communicator& communicator, Transport transport);

  // Returns whether this process does not use NCCL any more, because an abort did not come to its end. Then the device
  // may be busy for ever, and the process has to end without waiting for it. May be called from any thread.
  bool HasLeftNccl() const { return state_.is_left; }

 private:
  Device& device_;
  const NcclParts nccl_;
  NcclState state_;
  // Through `staging_` pieces pass between the device and the communicator.
  PinnedMemory staging_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
