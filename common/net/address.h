// Parses the addresses where programs listen and connect: "host:port" (port 0 means any free one) or "unix:/path".
#ifndef REKINDLE_COMMON_NET_ADDRESS_H_
#define REKINDLE_COMMON_NET_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct HostPort {
  // `host` has no brackets, even if it is an IPv6 address.
  std::string host;
  int port = 0;
};
// Splits a text like "host:port" or "[::1]:port". INVALID_ARGUMENT says how to write one.
absl::StatusOr<HostPort> SplitAddress(const std::string& address);

// Returns whether the address has the form "unix:/path".
bool IsUnixAddress(const std::string& address);
// Returns the path of a Unix address. REQUIRES: IsUnixAddress(address).
std::string UnixPath(const std::string& address);

// Returns OK for every address that Connect of rpc.h accepts.
absl::Status CheckAddress(const std::string& address);

// Returns true for Unix sockets, 127.0.0.0/8, ::1 and "localhost".
bool IsLocalAddress(const std::string& address);
// Returns the result of IsLocalAddress, but false for Unix sockets, because the permissions of their folders decide who
// may connect.
bool IsLoopback(const std::string& address);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_ADDRESS_H_
