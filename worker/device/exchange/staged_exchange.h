// Exchanges the memory of a device that the communicator cannot reach. Each piece passes through pinned memory.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_STAGED_EXCHANGE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_STAGED_EXCHANGE_H_

#include <memory>

#include "worker/device/exchange/exchange.h"

namespace rekindle::device {

// All arguments must outlive the exchange. `staging` must have room for the largest piece, and serves one exchange at a
// time. A thread of the exchange uses the exchange queue of the device, which nobody else may use meanwhile.
std::unique_ptr<Exchange> MakeStagedExchange(Device& device, comm::Communicator& communicator, PinnedMemory& staging);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_STAGED_EXCHANGE_H_
