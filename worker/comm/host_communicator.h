// The host transport: a ring over links, each link shared memory (peers on the same host) or TCP.
#ifndef REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/communicator.h"

namespace rekindle::comm {

// A trainer's data-plane listener: lives as long as the process, over all generations. Connections that arrive
// are authenticated (keyed challenge and response over job secret, generation and rank) before anything else is read;
// those of other generations wait a bounded time for a Connect() of theirs, then are dropped.
// Thread-safe.
class Listener {
 public:
  // `bind_address` "host:port", port 0 for any. Error: UNAVAILABLE (port in use), names the address.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(const std::string& bind_address, std::string job_secret);
  virtual ~Listener() = default;
  virtual int port() const = 0;
};

struct Peer {
  std::string address;  // host:port of its listener.
  std::string host;     // Equal strings: same host, shared memory may be used.
};

struct HostOptions {
  int generation = 0;
  int rank = 0;
  std::vector<Peer> peers;  // Indexed by rank; own entry included. Its size is the world size.
  Deadlines deadlines;
  bool allow_shared_memory = true;
  // Called once, from a thread of the communicator, when the first error is seen (not for Close()):
  // this is how a rank in the middle of a backward reports a dead peer at once.
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
};

// Connects to all peers; returns when every pair this rank needs is connected and authenticated.
// Errors: DEADLINE_EXCEEDED or UNAVAILABLE; `accused` (optional) gets who could not be reached.
// `cancelled` is polled: true ends the attempt with CANCELLED (a newer membership is there).
absl::StatusOr<std::unique_ptr<Communicator>> ConnectHost(Listener& listener, HostOptions options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// Identity of this host for Peer::host: boot id and the /dev/shm mount.
std::string HostIdentity();

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_
