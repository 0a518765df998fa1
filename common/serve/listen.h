// Listening TCP sockets.
#ifndef REKINDLE_COMMON_SERVE_LISTEN_H_
#define REKINDLE_COMMON_SERVE_LISTEN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/address.h"
#include "common/process.h"

namespace rekindle::common {

// The host as a URL has it: in brackets where it has colons.
std::string InUrl(const std::string& host);

// What a flag says to listen on. INVALID_ARGUMENT names the flag, and says how to write it.
absl::StatusOr<HostPort> ParseListen(const std::string& flag, const std::string& text);

struct Listener {
  UniqueFd socket;      // Non-blocking and close-on-exec.
  std::string address;  // host:port, with the port chosen.
};

// On the first address of the host that can be had.
// `flag`: which gave the address, for messages. UNAVAILABLE: the port is in use, or the host not of this machine;
// INVALID_ARGUMENT: the host cannot be found.
// `backlog`: connections that may wait to be accepted.
absl::StatusOr<Listener> Listen(const HostPort& at, const std::string& flag, int backlog = 128);

struct Listeners {
  std::vector<UniqueFd> sockets;  // At least one, each as above.
  int port = 0;                   // That all of them have.
};

// On all addresses of the host that can be had. 0.0.0.0 and :: are all of the machine, of IPv4 and of IPv6. Errors are
// the same.
absl::StatusOr<Listeners> ListenOnAll(const HostPort& at, const std::string& flag, int backlog);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_LISTEN_H_
