// Holds what a rank has to know to connect to its peers: itself, the peers and the deadlines.
#ifndef REKINDLE_WORKER_COMM_CONNECT_HOST_OPTIONS_H_
#define REKINDLE_WORKER_COMM_CONNECT_HOST_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

struct Peer {
  // `address` is the host:port of the peer's listener.
  std::string address;
  // Peers whose `host` strings are equal are on the same host and may use shared memory.
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
  // Close(), nor for this rank's own Abort(). So a rank in the middle of a backward pass can report a dead peer at
  // once. The callback must not destroy the communicator.
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
  // `held_up` says whether this rank's model is held up by something that the rank watches itself. Peers then wait for
  // this rank beyond their deadlines. It is called from a thread of the communicator, and may be null.
  std::function<bool()> held_up;
};

// Returns OK, or what is wrong with the rank, the peers or the generation in `options`.
absl::Status CheckHostOptions(const HostOptions& options);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_HOST_OPTIONS_H_
