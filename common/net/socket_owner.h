// Finds the user whose process is at the other end of a TCP connection within this machine. On loopback the address
// does not identify that user, because any process can take a port that another one has left.
#ifndef REKINDLE_COMMON_NET_SOCKET_OWNER_H_
#define REKINDLE_COMMON_NET_SOCKET_OWNER_H_

#include <sys/types.h>

#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Returns the users to whose processes this process is connected on loopback at `port`, each user once. It asks the
// kernel, so no process can lie. It is thread-safe and costs some microseconds for each open descriptor of this
// process. UNAVAILABLE says that there is no such connection or that nobody has accepted one yet. UNIMPLEMENTED says
// that this kernel does not report owners.
absl::StatusOr<std::vector<uid_t>> OwnersOfPort(int port);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_SOCKET_OWNER_H_
