#include "worker/comm/links/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::comm {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string ErrnoText() { return std::strerror(errno); }

absl::StatusOr<AddressList> Resolve(const std::string& address, bool passive) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) {
    return absl::InvalidArgumentError(absl::StrCat("address '", address, "' is not host:port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int rc = getaddrinfo(host.empty() ? nullptr : host.c_str(), address.c_str() + colon + 1, &hints, &found);
  if (rc != 0) return absl::UnavailableError(absl::StrCat("cannot resolve '", address, "': ", gai_strerror(rc)));
  return AddressList(found, &freeaddrinfo);
}

int PortOf(int fd) {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) return 0;
  if (name.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&name)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port);
}

int PollMilliseconds(double seconds) { return static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000)); }

bool BothEndsHere(int fd) {
  sockaddr_storage here{}, there{};
  socklen_t here_length = sizeof(here), there_length = sizeof(there);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_length) != 0 ||
      getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_length) != 0) {
    return false;
  }
  const auto* here4 = reinterpret_cast<sockaddr_in*>(&here);
  const auto* there4 = reinterpret_cast<sockaddr_in*>(&there);
  const auto* here6 = reinterpret_cast<sockaddr_in6*>(&here);
  const auto* there6 = reinterpret_cast<sockaddr_in6*>(&there);
  if (here.ss_family != there.ss_family) return false;
  if (here.ss_family == AF_INET) return here4->sin_addr.s_addr == there4->sin_addr.s_addr;
  return here.ss_family == AF_INET6 && std::memcmp(&here6->sin6_addr, &there6->sin6_addr, sizeof(in6_addr)) == 0;
}

}  // namespace

WakeFd::WakeFd() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void WakeFd::Set() {
  const uint64_t one = 1;
  // A write fails only if the eventfd's counter is full. Then the flag is set already, so the error does not matter.
  [[maybe_unused]] const ssize_t rc = write(fd_.get(), &one, sizeof(one));
}

void WakeFd::Clear() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t rc = read(fd_.get(), &count, sizeof(count));
}

bool WakeFd::IsSet() const {
  pollfd fd{fd_.get(), POLLIN, 0};
  return poll(&fd, 1, 0) > 0;
}

absl::Status WaitReady(int fd, short events, const WaitLimit& limit) {
  while (true) {
    const double left = limit.deadline - common::SteadySeconds();
    pollfd fds[2] = {{fd, events, 0}, {limit.cancel ? limit.cancel->get() : -1, POLLIN, 0}};
    const int rc = poll(fds, 2, PollMilliseconds(left));
    if (rc < 0 && errno != EINTR) return absl::InternalError(absl::StrCat("poll: ", ErrnoText()));
    if (rc > 0 && fds[1].revents != 0) return absl::CancelledError("the attempt was given up");
    if (rc > 0 && fds[0].revents != 0) return absl::OkStatus();
    if (left <= 0) return absl::DeadlineExceededError("no answer in time");
  }
}

absl::Status Pause(double seconds, const WaitLimit& limit) {
  WaitLimit pause = limit;
  pause.deadline = std::min(limit.deadline, common::SteadySeconds() + seconds);
  const absl::Status status = WaitReady(-1, 0, pause);
  return absl::IsDeadlineExceeded(status) ? absl::OkStatus() : status;
}

absl::Status ReadFull(int fd, void* data, size_t bytes, const WaitLimit& limit) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = recv(fd, static_cast<char*>(data) + done, bytes - done, MSG_DONTWAIT);
    if (n > 0) {
      done += n;
      continue;
    }
    if (n == 0) return absl::UnavailableError("the peer closed the connection");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return absl::UnavailableError(ErrnoText());
    if (absl::Status ready = WaitReady(fd, POLLIN, limit); !ready.ok()) return ready;
  }
  return absl::OkStatus();
}

absl::Status WriteFull(int fd, const void* data, size_t bytes, const WaitLimit& limit) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = send(fd, static_cast<const char*>(data) + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      done += n;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return absl::UnavailableError(ErrnoText());
    if (absl::Status ready = WaitReady(fd, POLLOUT, limit); !ready.ok()) return ready;
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> ListenTcp(const std::string& address, int* port) {
  absl::StatusOr<AddressList> found = Resolve(address, true);
  if (!found.ok()) return found.status();
  const addrinfo* info = found->get();
  UniqueFd fd(socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (!fd.valid() || bind(fd.get(), info->ai_addr, info->ai_addrlen) != 0 || listen(fd.get(), 128) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", ErrnoText(), "; choose another address or port 0"));
  }
  *port = PortOf(fd.get());
  return fd;
}

absl::StatusOr<UniqueFd> ConnectTcp(const std::string& address, const WaitLimit& limit) {
  absl::StatusOr<AddressList> found = Resolve(address, false);
  if (!found.ok()) return found.status();
  const addrinfo* info = found->get();
  UniqueFd fd(socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return absl::InternalError(absl::StrCat("socket: ", ErrnoText()));
  if (connect(fd.get(), info->ai_addr, info->ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return absl::UnavailableError(absl::StrCat(address, ": ", ErrnoText()));
    if (absl::Status ready = WaitReady(fd.get(), POLLOUT, limit); !ready.ok()) return ready;
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return absl::UnavailableError(absl::StrCat(address, ": ", std::strerror(error)));
  }
  TuneStream(fd.get());
  return fd;
}

void TuneStream(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  // Setting TCP_NODELAY fails on a Unix socket, and the error is ignored, because such a socket does not delay small
  // packets.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Inside a machine no packet is lost, so pacing by an estimate of the path (BBR) only halves the speed. Reno does not
  // pace, and a process needs no privilege to choose it.
  if (BothEndsHere(fd)) setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

}  // namespace rekindle::comm
