// Provides the host transport: a ring over links. Each link is shared memory (for peers on the same host) or TCP.
#ifndef REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Connects this rank to all peers, and returns when every rank has an authenticated connection to every other. There
// may be at most common::kMaxWorldSize ranks. Returns DEADLINE_EXCEEDED if peers could not be reached (they are put
// into `accused`), and UNAVAILABLE if a connected peer died (which is put into `accused`). Returns ABORTED if a peer
// gave up (`accused` gets whom that peer accuses), and INVALID_ARGUMENT for wrong options. `cancelled` is polled and
// may be null. If it returns true, for instance because a newer membership is there, the attempt ends with CANCELLED.
absl::StatusOr<std::unique_ptr<Communicator>> ConnectHost(Listener& listener, HostOptions options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// Returns the identity of this host for Peer::host. Two identities are equal if the processes can open each other's
// memory (same boot, PID namespace and user) and are meant to count as one host (same network namespace).
std::string HostIdentity();

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_
