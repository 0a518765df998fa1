// Opens listening TCP sockets.
#ifndef REKINDLE_COMMON_NET_LISTEN_H_
#define REKINDLE_COMMON_NET_LISTEN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/address.h"
#include "common/process/process.h"

namespace rekindle::common {

// Returns the host as a URL needs it: in brackets if it has colons.
std::string InUrl(const std::string& host);

// Parses the address that a flag says to listen on. INVALID_ARGUMENT names the flag and says how to write the address.
absl::StatusOr<HostPort> ParseListen(const std::string& flag, const std::string& text);

struct Listener {
  // `socket` is non-blocking and close-on-exec.
  UniqueFd socket;
  // `address` is where the socket listens, as host:port. If port 0 was requested, `address` has the port that the
  // kernel has chosen.
  std::string address;
};

// Listens on the first address of the host that works. `flag` is the flag that set the address, for messages.
// UNAVAILABLE says that the port is in use or that the host is not of this machine. INVALID_ARGUMENT says that the host
// cannot be found. `backlog` is the number of connections that may wait to be accepted.
absl::StatusOr<Listener> Listen(const HostPort& at, const std::string& flag, int backlog = 128);

struct Listeners {
  // `sockets` has at least one socket. Each is non-blocking and close-on-exec.
  std::vector<UniqueFd> sockets;
  // `port` is the port of all sockets.
  int port = 0;
};

// Listens on all addresses of the host that work. 0.0.0.0 and :: mean all addresses of the machine, of IPv4 and of
// IPv6. Returns the errors of Listen.
absl::StatusOr<Listeners> ListenOnAll(const HostPort& at, const std::string& flag, int backlog);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_LISTEN_H_
