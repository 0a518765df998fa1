// Exchanges the memory of the host, which the communicator uses directly.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_HOST_EXCHANGE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_HOST_EXCHANGE_H_

#include <memory>

#include "worker/device/exchange/exchange.h"

namespace rekindle::device {

// Both arguments must outlive the exchange. REQUIRES: device.IsHost().
std::unique_ptr<Exchange> MakeHostExchange(Device& device, comm::Communicator& communicator);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_HOST_EXCHANGE_H_
