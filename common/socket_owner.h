// Whose process is at the other end of a TCP connection within this machine: on loopback an address says nothing about
// that, and whoever comes first gets a port that somebody else has left.
#ifndef REKINDLE_COMMON_SOCKET_OWNER_H_
#define REKINDLE_COMMON_SOCKET_OWNER_H_

#include <sys/types.h>

#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::common {

// The users whose processes this process is connected to on loopback at that port, each once. The kernel is asked, so
// no process can lie. Thread-safe; costs some microseconds for each open descriptor of this process.
// UNAVAILABLE: there is no such connection, or nobody has accepted one yet. UNIMPLEMENTED: this kernel does not tell.
absl::StatusOr<std::vector<uid_t>> OwnersOfPort(int port);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SOCKET_OWNER_H_
