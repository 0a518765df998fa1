// Limits the length of the path of a Unix socket.
#ifndef REKINDLE_COMMON_NET_UNIX_PATH_H_
#define REKINDLE_COMMON_NET_UNIX_PATH_H_

#include <sys/un.h>

#include <cstddef>
#include <string_view>

namespace rekindle::common {

// `kLongestUnixPath` is the greatest length of the path of a Unix socket, in bytes.
inline constexpr size_t kLongestUnixPath = sizeof(sockaddr_un::sun_path) - 1;

// `kLongestNodeSocket` is the longest name of a socket that a node has in its folder.
inline constexpr std::string_view kLongestNodeSocket = "/checkpoint.sock";

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_UNIX_PATH_H_
