#include "worker/comm/rings/mesh.h"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "common/time/clock.h"

namespace rekindle::comm {
namespace {

void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Mesh::Mesh(int rank, std::vector<std::unique_ptr<Link>> links, std::shared_ptr<Doorbell> bell)
    : rank_(rank), links_(std::move(links)), bell_(std::move(bell)) {
  // Spinning helps only while every rank of this host has a core of its own.
  unsigned local = 1;
  for (const auto& link : links_) local += link && link->descriptor() < 0;
  spins_ = local <= std::thread::hardware_concurrency() ? 2000 : 50;
}

bool Mesh::AnyReady(std::span<const Want> wants) const {
  for (const Want& want : wants) {
    const Link& link = *links_[want.peer];
    if (want.send ? link.CanSend() : link.CanRecv()) return true;
  }
  return false;
}

bool Mesh::Spin(std::span<const Want> wants) const {
  for (int i = 0;; ++i) {
    if (AnyReady(wants) || ended()) return true;
    if (i == spins_) return false;
    CpuRelax();
  }
}

bool Mesh::Wait(std::span<const Want> wants) {
  if (std::none_of(wants.begin(), wants.end(), [](const Want& want) { return want.send; })) return WaitFor(wants);
  const double start = common::SteadySeconds();
  const bool ready = WaitFor(wants);
  send_blocked_.store(send_blocked_seconds() + common::SteadySeconds() - start, std::memory_order_relaxed);
  return ready;
}

bool Mesh::WaitFor(std::span<const Want> wants) {
  uint64_t mask = 0;
  uint64_t ring_mask = 0;
  bool sockets = false;
  for (const Want& want : wants) {
    const bool socket = links_[want.peer]->descriptor() >= 0;
    mask |= uint64_t{1} << want.peer;
    if (!socket) ring_mask |= uint64_t{1} << want.peer;
    sockets |= socket;
  }
  waiting_for_.store(mask, std::memory_order_relaxed);
  while (!ended()) {
    // A peer writes all its data before it reports that it leaves. So if `left_` is read before the links are checked,
    // none of the data of a peer in `left_` is missed.
    const uint64_t left = left_.load(std::memory_order_acquire) & ring_mask;
    if (ring_mask != 0 && (left == 0 && !sockets ? Spin(wants) : AnyReady(wants))) return !ended();
    if (left != 0) return Closed(__builtin_ctzll(left));
    if (sockets) {
      SleepOnPoll(wants, ring_mask != 0);
      return !ended();
    }
    SleepOnBell(wants);
  }
  return false;
}

void Mesh::SleepOnBell(std::span<const Want> wants) {
  const uint32_t ticket = bell_->Announce(Doorbell::kOnFutex);
  const uint64_t left = left_.load(std::memory_order_acquire);
  bool look_again = ended() || AnyReady(wants);
  for (const Want& want : wants) look_again |= (left >> want.peer & 1) != 0;
  if (!look_again) bell_->Wait(ticket);
  bell_->Awake();
}

void Mesh::SleepOnPoll(std::span<const Want> wants, bool rings_too) {
  std::vector<pollfd> fds;
  fds.reserve(wants.size() + 1);
  fds.push_back({wake_.get(), POLLIN, 0});
  for (const Want& want : wants) {
    const int fd = links_[want.peer]->descriptor();
    if (fd >= 0) fds.push_back({fd, static_cast<short>(want.send ? POLLOUT : POLLIN), 0});
  }
  if (rings_too) bell_->Announce(Doorbell::kOnPoll);
  if (!ended() && !AnyReady(wants)) poll(fds.data(), fds.size(), -1);
  if (rings_too) bell_->Awake();
  if (fds[0].revents != 0) wake_.Clear();
}

bool Mesh::Closed(int peer) {
  callbacks_.link_closed(peer);
  while (!ended()) {
    const uint32_t ticket = bell_->Announce(Doorbell::kOnFutex);
    if (!ended()) bell_->Wait(ticket);
    bell_->Awake();
  }
  return false;
}

bool Mesh::Fail(const std::string& what) {
  callbacks_.fail(what);
  return false;
}

void Mesh::Moved() { last_moved_.store(common::SteadySeconds(), std::memory_order_relaxed); }

void Mesh::End() {
  ended_.store(true, std::memory_order_seq_cst);
  Wake();
}

void Mesh::PeerLeft(int peer) {
  left_.fetch_or(uint64_t{1} << peer, std::memory_order_seq_cst);
  Wake();
}

void Mesh::Wake() {
  bell_->RingAlways();
  wake_.Set();
}

}  // namespace rekindle::comm
