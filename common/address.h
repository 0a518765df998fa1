// Where programs listen and connect: "host:port" (port 0: any free one) or "unix:/path".
#ifndef REKINDLE_COMMON_ADDRESS_H_
#define REKINDLE_COMMON_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct HostPort {
  std::string host;  // Without brackets.
  int port = 0;
};
// "host:port", "[::1]:port". INVALID_ARGUMENT says how to write one.
absl::StatusOr<HostPort> SplitAddress(const std::string& address);

// "unix:/path".
bool IsUnixAddress(const std::string& address);
// REQUIRES: it is one.
std::string UnixPath(const std::string& address);

// OK for what Connect of rpc.h takes.
absl::Status CheckAddress(const std::string& address);

// True for Unix sockets, 127.0.0.0/8, ::1 and "localhost".
bool IsLocalAddress(const std::string& address);
// The same without Unix sockets, whose folders say who may call.
bool IsLoopback(const std::string& address);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_ADDRESS_H_
