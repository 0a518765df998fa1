// Transports device memory with NCCL between GPUs, beside the host transport.
//
// An operation with a stream runs on NCCL, and its buffers are device memory. An operation without a stream runs on the
// host transport. Both run in the order of issue on one thread, and the host's control channels watch both. If a peer
// dies, freezes, or does not issue an operation by the deadline, the operation ends with the same status and
// accusations as on the host transport (monitor.h), and NCCL is aborted.
//
// NCCL cannot say which rank a stuck operation waits for. If every peer answers and has issued the operation, nobody is
// accused. Bytes under way do not count as progress, so large operations are cut into pieces of 64 MiB.
#ifndef REKINDLE_WORKER_COMM_NCCL_NCCL_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_NCCL_NCCL_COMMUNICATOR_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

class RingCommunicator;

struct NcclOptions {
  // `api` is the table of NCCL's calls of the loaded CUDA plugin.
  const RekindleNcclApi* api = nullptr;
  // `device` is CUDA's number of this rank's GPU.
  int device = 0;
};

// Connects as ConnectHost does. Then the ranks join one NCCL communicator within another deadlines.connect_seconds. The
// id of that communicator travels over the host transport's authenticated connections. Returns the errors of
// ConnectHost, and INTERNAL if NCCL fails (nobody is accused then unless a peer has died).
absl::StatusOr<std::unique_ptr<Communicator>> ConnectNccl(Listener& listener, HostOptions host,
                                                          const NcclOptions& options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// Joins the ranks of `host`, which are connected already, in one NCCL communicator. This is the second half of
// ConnectNccl. On failure `host` is ended.
absl::StatusOr<std::unique_ptr<Communicator>> JoinNccl(std::unique_ptr<RingCommunicator> host,
                                                       const Deadlines& deadlines, const NcclOptions& options,
                                                       const std::function<bool()>& cancelled,
                                                       std::vector<Accusation>* accused);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_NCCL_COMMUNICATOR_H_
