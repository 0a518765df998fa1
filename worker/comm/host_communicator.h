// The host transport: a ring over links, each link shared memory (peers on the same host) or TCP.
#ifndef REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/comm/communicator.h"

namespace rekindle::comm {

// A trainer's data-plane listener: lives as long as the process, over all generations. Connections that arrive
// are authenticated (keyed challenge and response over job secret, generation and rank) before anything else is read;
// those of later generations wait a bounded time for a ConnectHost() of theirs, then are dropped; those of generations
// before the last one are refused at once. Bad connections are counted and dropped without disturbing the others.
// Must outlive every ConnectHost() on it. Thread-safe.
struct ListenerStats {
  int64_t authenticated = 0;
  int64_t foreign = 0;      // Not this protocol, or another version of it.
  int64_t refused = 0;      // Did not hold the job's secret.
  int64_t stale = 0;        // Of a generation that is over.
  int64_t timed_out = 0;    // Too slow to prove themselves, or closed before.
  int64_t crowded_out = 0;  // Dropped because too many were waiting.
  int64_t expired = 0;      // Authenticated, but nobody connected for their generation.
};

class Listener {
 public:
  // `bind_address` "host:port", port 0 for any. Error: UNAVAILABLE (port in use), names the address.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(const std::string& bind_address, std::string job_secret);
  virtual ~Listener() = default;
  virtual int port() const = 0;
  virtual ListenerStats stats() const = 0;
};

struct Peer {
  std::string address;  // host:port of its listener.
  std::string host;     // Equal strings: same host, shared memory may be used.
};

struct HostOptions {
  int generation = 0;
  int rank = 0;
  std::string membership;   // Ranks of one generation that were told of different ones do not connect.
  std::vector<Peer> peers;  // Indexed by rank; own entry included. Its size is the world size.
  Deadlines deadlines;
  bool allow_shared_memory = true;
  // Called once, from a thread of the communicator, when the first error is seen (not for Close(), nor for this rank's
  // own Abort()): this is how a rank in the middle of a backward reports a dead peer at once. Must not destroy the
  // communicator.
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
};

// Connects to all peers; returns when every rank is connected to every other, authenticated. At most
// common::kMaxWorldSize ranks. Errors: DEADLINE_EXCEEDED (`accused` gets who could not be reached), UNAVAILABLE (a peer
// that was connected died, and is accused), ABORTED (a peer gave up; `accused` gets whom it accuses), INVALID_ARGUMENT.
// `cancelled` is polled (may be null): true ends the attempt with CANCELLED (a newer membership is there).
absl::StatusOr<std::unique_ptr<Communicator>> ConnectHost(Listener& listener, HostOptions options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused);

// Identity of this host for Peer::host: equal where processes can open each other's memory (boot, PID namespace, user)
// and are meant to count as one host (network namespace).
std::string HostIdentity();

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_HOST_COMMUNICATOR_H_
