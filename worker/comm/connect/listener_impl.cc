#include "worker/comm/connect/listener_impl.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "common/time/clock.h"
#include "worker/comm/watch/control.h"

namespace rekindle::comm {
namespace {

constexpr double kParkSeconds = 10;
// An honest peer opens at most two connections at once. The rest of `kMaxHalfOpen` is room for invalid ones.
constexpr size_t kMaxHalfOpen = 2 * common::kMaxWorldSize;
constexpr size_t kMaxWaiting = 4 * common::kMaxWorldSize;

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(const std::string& bind_address, std::string job_secret) {
  if (job_secret.empty()) return absl::InvalidArgumentError("a listener needs the job's secret");
  int port = 0;
  absl::StatusOr<UniqueFd> fd = ListenTcp(bind_address, &port);
  if (!fd.ok()) return fd.status();
  return std::make_unique<ListenerImpl>(*std::move(fd), port, std::move(job_secret));
}

ListenerImpl::ListenerImpl(UniqueFd fd, int port, std::string secret)
    : fd_(std::move(fd)), port_(port), secret_(std::move(secret)), thread_([this] { Run(); }) {}

ListenerImpl::~ListenerImpl() {
  stop_.store(true);
  wake_.Set();
  thread_.join();
}

ListenerStats ListenerImpl::stats() const {
  const common::MutexLock lock(mutex_);
  return stats_;
}

void ListenerImpl::Register(int generation) {
  const common::MutexLock lock(mutex_);
  ++registered_[generation];
  oldest_generation_ = std::max(oldest_generation_, generation);
  const auto is_stale = [this](const Authenticated& a)
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return a.hello.generation < oldest_generation_; };
  stats_.stale += static_cast<int64_t>(std::erase_if(waiting_, is_stale));
}

void ListenerImpl::Unregister(int generation) {
  const common::MutexLock lock(mutex_);
  if (--registered_[generation] == 0) registered_.erase(generation);
}

template <typename Match>
absl::StatusOr<Authenticated> ListenerImpl::Take(const Match& match, const WaitLimit& limit) {
  common::MutexLock lock(mutex_);
  auto found = waiting_.rend();
  const auto is_over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    found = std::find_if(waiting_.rbegin(), waiting_.rend(), match);
    return found != waiting_.rend() || (limit.cancel && limit.cancel->IsSet());
  };
  const std::chrono::duration<double> left(limit.deadline - common::SteadySeconds());
  if (!arrived_.WaitFor(lock, left, is_over)) return absl::DeadlineExceededError("it has not connected");
  if (found == waiting_.rend()) return absl::CancelledError("the attempt was given up");
  Authenticated taken = std::move(*found);
  // The newest of the peer's connections that wait and match is taken. Older ones are dropped, because the peer has
  // given them up.
  std::erase_if(waiting_, match);
  return taken;
}

absl::StatusOr<Authenticated> ListenerImpl::TakeControl(int generation, uint64_t membership, int from,
                                                        const WaitLimit& limit) {
  return Take(
      [&](const Authenticated& a) {
        return a.hello.generation == generation && a.hello.membership == membership && a.hello.from == from &&
               a.hello.role == ConnectionRole::kControl;
      },
      limit);
}

absl::StatusOr<Authenticated> ListenerImpl::TakeData(const Hello& control, const WaitLimit& limit) {
  return Take(
      [&](const Authenticated& a) {
        return a.hello.generation == control.generation && a.hello.from == control.from &&
               a.hello.role == ConnectionRole::kData && a.hello.attempt == control.attempt;
      },
      limit);
}

void ListenerImpl::WakeTakers() {
  const common::MutexLock lock(mutex_);
  arrived_.NotifyAll();
}

int ListenerImpl::SleepMilliseconds() const {
  double next = 1e9;
  if (!half_open_.empty()) next = half_open_.front().deadline;
  {
    const common::MutexLock lock(mutex_);
    for (const Authenticated& a : waiting_) next = std::min(next, a.expires);
  }
  if (next == 1e9) return -1;
  return static_cast<int>(std::ceil(std::max(0.0, next - common::SteadySeconds()) * 1000));
}

void ListenerImpl::Run() {
  std::vector<pollfd> fds;
  while (true) {
    fds.assign({{wake_.get(), POLLIN, 0}, {fd_.get(), POLLIN, 0}});
    for (const HalfOpen& connection : half_open_) fds.push_back({connection.fd.get(), POLLIN, 0});
    poll(fds.data(), fds.size(), SleepMilliseconds());
    if (stop_.load()) return;
    wake_.Clear();
    size_t index = 2;
    for (auto it = half_open_.begin(); it != half_open_.end(); ++index) {
      const Advance advance = fds[index].revents == 0 ? Advance::kWait : AdvanceOne(*it);
      if (advance == Advance::kDone) Park(std::move(*it));
      it = advance == Advance::kWait ? std::next(it) : half_open_.erase(it);
    }
    if (fds[1].revents != 0) Accept();
    Expire(common::SteadySeconds());
  }
}

void ListenerImpl::Accept() {
  for (int i = 0; i < 16; ++i) {
    UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      // If no descriptor is left, the connection stays in the backlog and poll() returns at once, so the thread sleeps
      // for 20 ms.
      const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (exhausted) poll(nullptr, 0, 20);
      return;
    }
    TuneStream(fd.get());
    if (half_open_.size() >= kMaxHalfOpen) {
      // The oldest unauthenticated connection is the least likely to be honest, because an honest handshake takes
      // milliseconds.
      half_open_.pop_front();
      const common::MutexLock lock(mutex_);
      ++stats_.crowded_out;
    }
    HalfOpen connection{.fd = std::move(fd)};
    connection.deadline = common::SteadySeconds() + kHandshakeSeconds;
    half_open_.push_back(std::move(connection));
  }
}

ListenerImpl::Advance ListenerImpl::AdvanceOne(HalfOpen& c) {
  while (true) {
    auto* target = c.greeted ? c.proof.data() : reinterpret_cast<uint8_t*>(&c.hello);
    const size_t wanted = c.greeted ? sizeof(c.proof) : sizeof(c.hello);
    const ssize_t n = recv(c.fd.get(), target + c.have, wanted - c.have, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Advance::kWait;
    if (n <= 0) {
      const common::MutexLock lock(mutex_);
      ++stats_.timed_out;
      return Advance::kDrop;
    }
    c.have += n;
    if (c.have < wanted) continue;
    if (!c.greeted) {
      if (Greet(c) == Advance::kDrop) return Advance::kDrop;
      continue;
    }
    if (Equal(c.proof, MakeProof(secret_, c.hello, c.challenge.nonce))) return Advance::kDone;
    const common::MutexLock lock(mutex_);
    ++stats_.refused;
    return Advance::kDrop;
  }
}

ListenerImpl::Advance ListenerImpl::Greet(HalfOpen& c) {
  {
    const common::MutexLock lock(mutex_);
    if (!CheckHello(c.hello).ok()) {
      ++stats_.foreign;
      return Advance::kDrop;
    }
    if (c.hello.generation < oldest_generation_) {
      ++stats_.stale;
      return Advance::kDrop;
    }
  }
  c.challenge = MakeChallenge(secret_, c.hello);
  c.greeted = true;
  c.have = 0;
  // A challenge is sent by one call of send(), which need not be repeated: a new socket's send buffer has room for the
  // few bytes of a challenge.
  const ssize_t n = send(c.fd.get(), &c.challenge, sizeof(c.challenge), MSG_DONTWAIT | MSG_NOSIGNAL);
  return n == static_cast<ssize_t>(sizeof(c.challenge)) ? Advance::kWait : Advance::kDrop;
}

void ListenerImpl::Park(HalfOpen connection) {
  const common::MutexLock lock(mutex_);
  if (connection.hello.generation < oldest_generation_) {
    ++stats_.stale;
    return;
  }
  ++stats_.authenticated;
  if (waiting_.size() >= kMaxWaiting) {
    waiting_.pop_front();
    ++stats_.crowded_out;
  }
  waiting_.push_back({std::move(connection.fd), connection.hello, common::SteadySeconds() + kParkSeconds});
  arrived_.NotifyAll();
}

void ListenerImpl::Expire(double now) {
  const common::MutexLock lock(mutex_);
  while (!half_open_.empty() && half_open_.front().deadline <= now) {
    half_open_.pop_front();
    ++stats_.timed_out;
  }
  const auto expires = [&](Authenticated& a) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (a.expires > now) return false;
    if (!registered_.contains(a.hello.generation)) return true;
    // A connection for a generation that ConnectHost() is connecting now is kept longer, because that call is about to
    // take it.
    a.expires = now + kParkSeconds;
    return false;
  };
  stats_.expired += static_cast<int64_t>(std::erase_if(waiting_, expires));
}

}  // namespace rekindle::comm
