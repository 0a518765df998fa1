// Exchanges the memory of GPUs by NCCL. The host transport of the same generation carries what the host has to say, and
// watches over both.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_

#include <memory>

#include "worker/comm/nccl/nccl_api.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/exchange/exchange.h"

namespace rekindle::device {

// Makes an exchange whose ranks join one communicator of NCCL. It returns at once: the ranks join while they compute,
// and operations wait until they have. Operations of the host and of the device go in two lanes, each in its order.
//
// All arguments must outlive the exchange. A thread of the exchange uses the exchange queue of the device, which nobody
// else may use meanwhile. If NCCL fails, the communicator ends with INTERNAL, and accuses nobody unless a peer has
// died. If the communicator ends, so does NCCL's. `gpu` is CUDA's number of this rank's GPU, and `session` a new
// session of `nccl`, which the exchange ends.
std::unique_ptr<Exchange> MakeNcclExchange(Device& device, comm::Communicator& communicator,
                                           const RekindleNcclApi& nccl, int gpu,
                                           std::shared_ptr<comm::NcclSession> session);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_
