// Names what carries the exchange between the devices of a generation's ranks.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_TRANSPORT_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_TRANSPORT_H_

namespace rekindle::device {

// kHost is the communicator between the hosts, which serves every rank. kNccl serves GPUs.
enum class Transport { kHost, kNccl };

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_TRANSPORT_H_
