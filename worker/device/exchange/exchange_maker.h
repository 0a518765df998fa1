// Makes the exchanges of a rank, one for each generation.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"

namespace rekindle::device {

// ExchangeMaker is thread-compatible.
class ExchangeMaker {
 public:
  // `device` must outlive the ExchangeMaker.
  explicit ExchangeMaker(Device& device) : device_(device) {}

  // Allocates what the exchanges need on a device that is not the host. No operation may have more than `most_bytes`
  // bytes.
  absl::Status Allocate(int64_t most_bytes);

  // Makes the exchange of one communicator. Both the communicator and the ExchangeMaker must outlive it, and an
  // exchange must have ended before the next one is made. REQUIRES: Allocate() returned OK.
  std::unique_ptr<Exchange> Make(comm::Communicator& communicator);

 private:
  Device& device_;
  // Through `staging_` pieces pass between the device and the communicator.
  PinnedMemory staging_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_EXCHANGE_MAKER_H_
