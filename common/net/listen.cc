#include "common/net/listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

int PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

absl::Status WhyNot(int cause, const HostPort& at, const std::string& flag) {
  const std::string host = InUrl(at.host);
  if (cause == EADDRINUSE) {
    return absl::UnavailableError(absl::StrCat("port ", at.port, " of ", host,
                                               " is in use: stop the other process, or give another port (", flag, " ",
                                               host, ":0 takes any free port)"));
  }
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", flag, " ", host, ":", at.port, ": ", std::strerror(cause)));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<Addresses> Resolve(const HostPort& at, const std::string& flag) {
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &list); error != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", flag, " ", at.host, ": ", gai_strerror(error),
                                                   ": give an address of this machine"));
  }
  return Addresses(list, &freeaddrinfo);
}

// Returns a listening socket. If that fails, the descriptor is not valid and `cause` is the errno.
UniqueFd ListenOn(const addrinfo& one, int port, int backlog, int* cause) {
  sockaddr_storage address = {};
  std::memcpy(&address, one.ai_addr, one.ai_addrlen);
  (one.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port) = htons(static_cast<uint16_t>(port));
  UniqueFd fd(socket(one.ai_family, one.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one.ai_protocol));
  const int on = 1;
  const int off = 0;
  if (fd.valid()) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd.valid() && one.ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (fd.valid() && bind(fd.get(), reinterpret_cast<sockaddr*>(&address), one.ai_addrlen) == 0 &&
      listen(fd.get(), backlog) == 0) {
    return fd;
  }
  *cause = errno;
  return UniqueFd();
}

}  // namespace

std::string InUrl(const std::string& host) {
  return host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
}

absl::StatusOr<HostPort> ParseListen(const std::string& flag, const std::string& text) {
  absl::StatusOr<HostPort> at = SplitAddress(text);
  if (at.ok()) return at;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " '", text, "' is no address: write host:port, as 127.0.0.1:7080 or [::1]:7080"));
}

absl::StatusOr<Listener> Listen(const HostPort& at, const std::string& flag, int backlog) {
  const absl::StatusOr<Addresses> found = Resolve(at, flag);
  if (!found.ok()) return found.status();
  int cause = EADDRNOTAVAIL;
  for (const addrinfo* one = found->get(); one != nullptr; one = one->ai_next) {
    UniqueFd socket = ListenOn(*one, at.port, backlog, &cause);
    if (!socket.valid()) continue;
    std::string address = absl::StrCat(InUrl(at.host), ":", PortOf(socket.get()));
    return Listener{std::move(socket), std::move(address)};
  }
  return WhyNot(cause, at, flag);
}

absl::StatusOr<Listeners> ListenOnAll(const HostPort& at, const std::string& flag, int backlog) {
  HostPort named = at;
  const bool everywhere = at.host == "0.0.0.0" || at.host == "::";
  if (everywhere) named.host = "::";
  absl::StatusOr<Addresses> found = Resolve(named, flag);
  if (!found.ok() && !everywhere) return found.status();
  Listeners listeners{.sockets = {}, .port = at.port};
  int cause = EADDRNOTAVAIL;
  const auto add = [&](const addrinfo* list) {
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
      UniqueFd socket = ListenOn(*one, listeners.port, backlog, &cause);
      if (!socket.valid()) continue;
      listeners.port = PortOf(socket.get());
      listeners.sockets.push_back(std::move(socket));
    }
  };
  if (found.ok()) add(found->get());
  // A machine without IPv6 cannot listen on ::, so only the addresses of IPv4 are used.
  if (listeners.sockets.empty() && everywhere && cause != EADDRINUSE) {
    named.host = "0.0.0.0";
    found = Resolve(named, flag);
    if (!found.ok()) return found.status();
    add(found->get());
  }
  if (listeners.sockets.empty()) return WhyNot(cause, at, flag);
  return listeners;
}

}  // namespace rekindle::common
