#include "common/rpc/rpc_acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/net/descriptors.h"
#include "common/net/listen.h"
#include "common/net/unix_path.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr int kBackOffMs = 100;
constexpr double kTellSeconds = 60;

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

void RemoveSocket(const std::string& path) {
  struct stat facts = {};
  if (lstat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) unlink(path.c_str());
}

absl::StatusOr<UniqueFd> ListenOnUnix(const std::string& path) {
  if (path.empty() || path.size() > kLongestUnixPath) {
    return absl::InvalidArgumentError(absl::StrCat("unix socket path '", path, "' must have 1 to ", kLongestUnixPath,
                                                   " bytes: use a shorter folder"));
  }
  const sockaddr_un address = UnixAddress(path);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  {
    const UniqueFd asks(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!asks.valid()) return ErrnoError("socket");
    if (connect(asks.get(), where, sizeof address) == 0) {
      return absl::UnavailableError(absl::StrCat("unix socket ", path, " is served by another process: stop it first"));
    }
  }
  // If nobody serves the socket at this path, a process that was killed has left it behind, and it is removed.
  RemoveSocket(path);
  UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid()) return ErrnoError("socket");
  if (bind(listener.get(), where, sizeof address) != 0 || listen(listener.get(), SOMAXCONN) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": ", std::strerror(errno),
                                               ": is its folder there and writable?"));
  }
  return listener;
}

}  // namespace

absl::StatusOr<RpcSockets> OpenRpcSockets(const std::string& address) {
  RpcSockets opened;
  if (IsUnixAddress(address)) {
    opened.unix_path = UnixPath(address);
    opened.address = address;
    absl::StatusOr<UniqueFd> listener = ListenOnUnix(opened.unix_path);
    if (!listener.ok()) return listener.status();
    opened.sockets.push_back(*std::move(listener));
    return opened;
  }
  const absl::StatusOr<HostPort> at = SplitAddress(address);
  if (!at.ok()) return at.status();
  absl::StatusOr<Listeners> listeners = ListenOnAll(*at, "--listen", SOMAXCONN);
  if (!listeners.ok()) return listeners.status();
  opened.sockets = std::move(listeners->sockets);
  opened.port = listeners->port;
  opened.address = absl::StrCat(address.substr(0, address.rfind(':')), ":", opened.port);
  // Accepted connections inherit TCP_NODELAY: small messages are not held back for larger ones.
  const int on = 1;
  for (const UniqueFd& socket : opened.sockets) setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return opened;
}

RpcAcceptor::RpcAcceptor(RpcSockets sockets, HandOver hand_over)
    : sockets_(std::move(sockets)), hand_over_(std::move(hand_over)), stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

absl::StatusOr<std::unique_ptr<RpcAcceptor>> RpcAcceptor::Start(RpcSockets sockets, HandOver hand_over) {
  std::unique_ptr<RpcAcceptor> self(new RpcAcceptor(std::move(sockets), std::move(hand_over)));
  if (!self->stop_.valid()) return ErrnoError("eventfd");
  // The acceptor's thread blocks all signals, so that signals reach the threads that wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  {
    const MutexLock lock(self->mutex_);
    self->thread_ = std::thread([raw = self.get()] { raw->Run(); });
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return self;
}

RpcAcceptor::~RpcAcceptor() { Stop(); }

void RpcAcceptor::Stop() {
  const MutexLock lock(mutex_);
  if (sockets_.sockets.empty()) return;
  if (thread_.joinable()) {
    (void)!eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  // The path of the Unix socket is removed while the socket still answers, so that no other process can have taken the
  // path by then.
  if (!sockets_.unix_path.empty()) RemoveSocket(sockets_.unix_path);
  sockets_.sockets.clear();
}

void RpcAcceptor::Run() {
  std::vector<pollfd> waited = {{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (const UniqueFd& socket : sockets_.sockets) waited.push_back({socket.get(), POLLIN, 0});
  for (;;) {
    // If no connection can be accepted, the listening socket stays readable, so the acceptor waits a little before it
    // polls again.
    if (backs_off_ && poll(waited.data(), 1, kBackOffMs) > 0) return;
    backs_off_ = false;
    if (poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[0].revents != 0) return;
    for (size_t i = 0; i < sockets_.sockets.size(); ++i) {
      if (waited[i + 1].revents != 0) AcceptAll(sockets_.sockets[i]);
    }
    TellOfRefusals();
  }
}

void RpcAcceptor::AcceptAll(const UniqueFd& listener) {
  const int clients = DescriptorsOfClients();
  for (;;) {
    UniqueFd connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) {
      if (connection.get() >= clients) {
        ++refused_;
      } else {
        hand_over_(listener, std::move(connection));
      }
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      backs_off_ = true;
      ++refused_;
      return;
    }
    // Any other error of accept4 is that of a single connection, which has failed before it was accepted. So the next
    // connection is tried.
  }
}

void RpcAcceptor::TellOfRefusals() {
  const double now = SteadySeconds();
  if (refused_ == 0 || (told_at_ != 0 && now - told_at_ < kTellSeconds)) return;
  log::Warning("connections were refused: too many are open; end clients, or raise the limit of open files (ulimit -n)",
               {{"address", sockets_.address}, {"refused", refused_}, {"descriptors", DescriptorsOfClients()}});
  refused_ = 0;
  told_at_ = now;
}

}  // namespace rekindle::common
