// Exchanges the memory of GPUs by NCCL. The host transport of the same generation carries what the host has to say, and
// watches over both.
#ifndef REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_
#define REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "worker/comm/nccl/nccl_api.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/exchange/exchange.h"
#include "worker/device/exchange/landing.h"

namespace rekindle::device {

// An end of NCCL takes milliseconds. One that takes longer waits for a kernel that hangs. A rank that gives it up has
// to enter the next generation before its peers give that rank up (comm::Deadlines::connect_seconds).
inline constexpr double kNcclEndSeconds = 3;

// Says what a rank needs for NCCL.
struct NcclParts {
  // `api` is the table of NCCL's calls. It is null where there is none.
  const RekindleNcclApi* api = nullptr;
  // `gpu` is CUDA's number of the rank's GPU.
  int gpu = 0;
  // An operation that NCCL has not begun after `launch_seconds` is a failure of NCCL. A peer that computes
  // micro-batches again begins its first operation so much later.
  double launch_seconds = 60;
};

// Is what the exchanges of a rank hand on to each other.
struct NcclState {
  Landing landing;
  // `sessions` has the newest exchange's session, and before it those whose end was begun.
  std::vector<std::shared_ptr<comm::NcclSession>> sessions;
  // `is_left` is set when an abort did not come to its end. From then on this process cannot use NCCL.
  std::atomic<bool> is_left = false;
};

// Makes an exchange whose ranks join one communicator of NCCL by the newest session. It returns at once: the ranks join
// while they compute, and operations wait until they have. Operations of the host and of the device go in two lanes,
// each in its order.
//
// All arguments must outlive the exchange. A thread of the exchange uses the exchange queue and NCCL's queue of the
// device, which nobody else may use meanwhile. If NCCL fails, the communicator ends with INTERNAL, and accuses nobody
// unless a peer has died. If the communicator ends, so does NCCL's.
std::unique_ptr<Exchange> MakeNcclExchange(Device& device, comm::Communicator& communicator, const NcclParts& nccl,
                                           NcclState& state);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_EXCHANGE_NCCL_EXCHANGE_H_
