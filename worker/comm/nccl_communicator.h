// The transport of device memory: NCCL between GPUs, beside the host transport.
//
// An operation with a stream is NCCL's and its buffers are device memory; one without is the host transport's. Both run
// in the order of issue on one thread, and the host's control channels watch both: a peer that dies, freezes, or does
// not come to an operation by the deadline ends it with the same status and accusations (monitor.h), and NCCL is
// aborted.
//
// What NCCL cannot tell: whom a stuck operation waits for. Where every peer answers and has issued the operation,
// nobody is accused. Bytes under way do not count as progress, so large operations are cut in pieces of 64 MiB.
#ifndef REKINDLE_WORKER_COMM_NCCL_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_NCCL_COMMUNICATOR_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/communicator.h"
#include "worker/comm/host_communicator.h"
#include "worker/comm/nccl_api.h"

namespace rekindle::comm {

class RingCommunicator;

struct NcclOptions {
  const RekindleNcclApi* api = nullptr;  // Of the loaded plugin.
  int device = 0;                        // CUDA's number of this rank's GPU.
};

// As ConnectHost; then the ranks join one NCCL communicator, whose id travels over the host transport's authenticated
// connections, within deadlines.connect_seconds more. Errors as there, and INTERNAL where NCCL fails (nobody is accused
// unless a peer has died).
absl::StatusOr<std::unique_ptr<Communicator>> ConnectNccl(Listener& listener, HostOptions host,
                                                          const NcclOptions& options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// The second half of it, over ranks that are connected. On failure `host` is ended.
absl::StatusOr<std::unique_ptr<Communicator>> JoinNccl(std::unique_ptr<RingCommunicator> host,
                                                       const Deadlines& deadlines, const NcclOptions& options,
                                                       const std::function<bool()>& cancelled,
                                                       std::vector<Accusation>* accused);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_COMMUNICATOR_H_
