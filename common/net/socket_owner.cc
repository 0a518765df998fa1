#include "common/net/socket_owner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/process/process.h"

namespace rekindle::common {
namespace {

// Describes one end of a TCP connection as the kernel's socket tables do.
struct End {
  int family = AF_UNSPEC;
  // `address` is the IP address of this end, in network byte order. An IPv4 address is in the first word.
  std::array<uint32_t, 4> address = {};
  // `port` is the TCP port of this end, in network byte order.
  uint16_t port = 0;

  bool IsLoopback() const {
    if (family == AF_INET) return (ntohl(address[0]) >> 24) == 127;
    return family == AF_INET6 && address == std::array<uint32_t, 4>{0, 0, 0, htonl(1)};
  }
};

End EndOf(const sockaddr_storage& from) {
  End end;
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    end = {.family = AF_INET, .address = {v4.sin_addr.s_addr}, .port = v4.sin_port};
  } else if (from.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
    end = {.family = AF_INET6, .address = {}, .port = v6.sin6_port};
    std::memcpy(end.address.data(), &v6.sin6_addr, sizeof(v6.sin6_addr));
    // An IPv4 address that is written as an IPv6 address is converted back to IPv4, because gRPC uses IPv6 sockets for
    // IPv4 connections, too.
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) end = {.family = AF_INET, .address = {end.address[3]}, .port = end.port};
  }
  return end;
}

struct Connection {
  End here;
  End there;
};

// Returns both ends of the connection of the descriptor `fd`, or nothing if `fd` is no connected TCP socket.
std::optional<Connection> ConnectionOf(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return std::nullopt;
  sockaddr_storage here = {}, there = {};
  socklen_t here_length = sizeof here, there_length = sizeof there;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_length) != 0) return std::nullopt;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_length) != 0) return std::nullopt;
  return Connection{EndOf(here), EndOf(there)};
}

// Returns the connections of this process to `port` on loopback.
std::vector<Connection> ConnectionsTo(int port) {
  std::vector<Connection> found;
  DIR* descriptors = opendir("/proc/self/fd");
  if (descriptors == nullptr) return found;
  while (const dirent* entry = readdir(descriptors)) {
    if (entry->d_name[0] == '.') continue;
    const std::optional<Connection> connection = ConnectionOf(std::atoi(entry->d_name));
    if (!connection || ntohs(connection->there.port) != port || !connection->there.IsLoopback()) continue;
    found.push_back(*connection);
  }
  closedir(descriptors);
  return found;
}

// Asks the kernel for the one socket that has these two ends. NOT_FOUND says that there is no such socket or that this
// kernel has no table of sockets.
absl::StatusOr<inet_diag_msg> FindSocket(int netlink, const Connection& ends) {
  struct {
    nlmsghdr header = {};
    inet_diag_req_v2 request = {};
  } question;
  question.header = {.nlmsg_len = sizeof question,
                     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                     .nlmsg_flags = NLM_F_REQUEST,
                     .nlmsg_seq = 1,
                     .nlmsg_pid = 0};
  inet_diag_req_v2& request = question.request;
  request.sdiag_family = static_cast<uint8_t>(ends.here.family);
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_states = ~0U;
  request.id.idiag_sport = ends.here.port;
  request.id.idiag_dport = ends.there.port;
  std::memcpy(request.id.idiag_src, ends.here.address.data(), sizeof(request.id.idiag_src));
  std::memcpy(request.id.idiag_dst, ends.there.address.data(), sizeof(request.id.idiag_dst));
  request.id.idiag_cookie[0] = request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(netlink, &question, sizeof question, 0) < 0) return ErrnoError("ask the kernel for a socket");
  alignas(nlmsghdr) char answer[4096];
  const ssize_t got = recv(netlink, answer, sizeof answer, 0);
  if (got < 0) return ErrnoError("hear the kernel of a socket");
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (!NLMSG_OK(header, static_cast<size_t>(got))) return absl::InternalError("the kernel's answer is cut off");
  if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY && header->nlmsg_len >= NLMSG_LENGTH(sizeof(inet_diag_msg))) {
    inet_diag_msg socket = {};
    std::memcpy(&socket, NLMSG_DATA(header), sizeof socket);
    return socket;
  }
  nlmsgerr error = {};
  if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof error)) {
    std::memcpy(&error, NLMSG_DATA(header), sizeof error);
  }
  if (error.error == -ENOENT) return absl::NotFoundError("the kernel knows of no such socket");
  errno = -error.error;
  return ErrnoError("ask the kernel for a socket");
}

bool Has(const std::vector<Connection>& connections, const Connection& one) {
  return std::any_of(connections.begin(), connections.end(),
                     [&](const Connection& other) { return other.here.port == one.here.port; });
}

}  // namespace

absl::StatusOr<std::vector<uid_t>> OwnersOfPort(int port) {
  const std::vector<Connection> connections = ConnectionsTo(port);
  const absl::Status unknown =
      absl::UnavailableError(absl::StrCat("it is not known yet whose process listens on port ", port, ": try again"));
  if (connections.empty()) return unknown;
  const UniqueFd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink.valid() && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT)) {
    return absl::UnimplementedError("this kernel does not tell whose a socket is");
  }
  if (!netlink.valid()) return ErrnoError("ask the kernel whose a socket is");
  std::vector<uid_t> owners;
  for (const Connection& ours : connections) {
    const absl::StatusOr<inet_diag_msg> theirs = FindSocket(netlink.get(), {ours.there, ours.here});
    if (absl::IsNotFound(theirs.status())) {
      // The kernel has not found the other end of the connection. This process's own end exists in any case. If the
      // kernel does not find that end either, it has no table of sockets.
      const absl::StatusOr<inet_diag_msg> own = FindSocket(netlink.get(), ours);
      const bool is_closed = !Has(ConnectionsTo(port), ours);
      if (is_closed || !absl::IsNotFound(own.status())) return unknown;
      return absl::UnimplementedError("this kernel does not tell whose a socket is");
    }
    if (!theirs.ok()) return theirs.status();
    // A connection that nobody has accepted yet has no owner.
    if (theirs->idiag_inode == 0) return unknown;
    if (std::find(owners.begin(), owners.end(), theirs->idiag_uid) == owners.end()) owners.push_back(theirs->idiag_uid);
  }
  return owners;
}

}  // namespace rekindle::common
