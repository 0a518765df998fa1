// Provides the host transport: a ring over links. Each link is shared memory (for peers on the same host) or TCP.
#ifndef REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Counts the connections that a listener has had since it was made.
struct ListenerStats {
  int64_t authenticated = 0;
  // `foreign` counts connections that did not use this protocol, or used another version of it.
  int64_t foreign = 0;
  // `refused` counts connections that did not prove that they hold the job's secret.
  int64_t refused = 0;
  // `stale` counts connections for a generation that is over.
  int64_t stale = 0;
  // `timed_out` counts connections that were too slow to prove themselves, or closed before that.
  int64_t timed_out = 0;
  // `crowded_out` counts connections that were dropped because too many were waiting.
  int64_t crowded_out = 0;
  // `expired` counts connections that were authenticated, but for whose generation nobody connected.
  int64_t expired = 0;
};

// Listens for a trainer's data plane. A listener lives as long as the process, over all generations. Each connection is
// authenticated before anything else is read, by a keyed challenge and response over job secret, generation and rank. A
// connection of a later generation waits a bounded time for the ConnectHost() of that generation, then it is dropped. A
// connection of a generation before the last one is refused at once. Bad connections are counted and dropped without
// disturbing the others. The listener must outlive every ConnectHost() on it. It is thread-safe.
class Listener {
 public:
  // Listens on `bind_address`, which is "host:port". Port 0 takes any free port. Returns UNAVAILABLE, with the address
  // in the message, if the port is in use.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(const std::string& bind_address, std::string job_secret);
  virtual ~Listener() = default;
  virtual int port() const = 0;
  virtual ListenerStats stats() const = 0;
};

struct Peer {
  // `address` is the host:port of the peer's listener.
  std::string address;
  // Peers with equal strings are on the same host and may use shared memory.
  std::string host;
};

struct HostOptions {
  int generation = 0;
  int rank = 0;
  // Ranks of one generation that have different memberships do not connect.
  std::string membership;
  // `peers` is indexed by rank and includes this rank's own entry. Its size is the world size.
  std::vector<Peer> peers;
  Deadlines deadlines;
  bool allow_shared_memory = true;
  // `on_error` is called once, from a thread of the communicator, when the first error is seen. It is not called for
  // Close(), nor for this rank's own Abort(). A rank in the middle of a backward pass can so report a dead peer at
  // once. It must not destroy the communicator.
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
};

// Connects to all peers, and returns when every rank has an authenticated connection to every other. There may be at
// most common::kMaxWorldSize ranks. Returns DEADLINE_EXCEEDED if peers could not be reached (they are put into
// `accused`), and UNAVAILABLE if a connected peer died (it is accused). Returns ABORTED if a peer gave up (`accused`
// gets whom that peer accuses), and INVALID_ARGUMENT for wrong options. `cancelled` is polled and may be null. If it
// returns true, for instance because a newer membership is there, the attempt ends with CANCELLED.
absl::StatusOr<std::unique_ptr<Communicator>> ConnectHost(Listener& listener, HostOptions options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// Returns the identity of this host for Peer::host. Two identities are equal if the processes can open each other's
// memory (same boot, PID namespace and user) and are meant to count as one host (same network namespace).
std::string HostIdentity();

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_HOST_COMMUNICATOR_H_
