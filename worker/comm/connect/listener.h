// Holds Listener, on which a trainer accepts the connections of the other ranks.
#ifndef REKINDLE_WORKER_COMM_CONNECT_LISTENER_H_
#define REKINDLE_WORKER_COMM_CONNECT_LISTENER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::comm {

// Counts the connections that a listener has had since it was made, by what became of them.
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
// authenticated before any other byte of it is read, by a keyed challenge and response over job secret, generation and
// rank. A connection of a later generation waits a bounded time for the ConnectHost() of that generation, then it is
// dropped. A connection of an earlier generation than that of the newest ConnectHost() is refused at once. Bad
// connections are counted and dropped without disturbing the others. The listener must outlive every ConnectHost() on
// it. It is thread-safe.
class Listener {
 public:
  // Listens on `bind_address`, which is "host:port". Port 0 takes any free port. Returns UNAVAILABLE, with the address
  // in the message, if the port is in use.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(const std::string& bind_address, std::string job_secret);
  virtual ~Listener() = default;
  virtual int port() const = 0;
  virtual ListenerStats stats() const = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_LISTENER_H_
