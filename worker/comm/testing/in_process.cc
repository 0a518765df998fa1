#include "worker/comm/testing/in_process.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "common/sync/mutex.h"
#include "worker/comm/connect/ring_communicator.h"
#include "worker/comm/links/ring_link.h"
#include "worker/comm/links/stream_link.h"

namespace rekindle::comm {

// Holds the faults of each rank. A rank's links call Pass() before they move bytes, and its monitor calls it at every
// turn of its loop, so that a fault can hold them up.
struct InProcessFaults::Impl {
  struct Rank {
    std::vector<std::shared_ptr<ControlChannel>> controls;
    bool frozen = false;
    bool killed = false;
    uint64_t moved = 0;
    // `action` is called, with the mutex released, once the rank has moved `action_at` bytes.
    std::function<void()> action;
    uint64_t action_at = 0;
    // A slow rank pauses after every `slow_bytes` bytes that it moves. 0 means that the rank is not slow.
    uint64_t slow_bytes = 0;
    double slow_seconds = 0;
    uint64_t slow_next = 0;
  };

  common::Mutex mutex;
  common::CondVar thawed;
  std::map<int, Rank> ranks ABSL_GUARDED_BY(mutex);

  // Blocks while the rank is frozen. Returns how many of `bytes` may be moved before the rank's next fault is due.
  size_t Pass(int rank, size_t bytes) {
    common::MutexLock lock(mutex);
    Rank& r = ranks[rank];
    thawed.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return !r.frozen; });
    if (r.killed) return 0;
    if (r.action) bytes = std::min<uint64_t>(bytes, std::max<uint64_t>(1, r.action_at - r.moved));
    if (r.slow_bytes > 0) bytes = std::min<uint64_t>(bytes, r.slow_bytes);
    return bytes;
  }

  void Moved(int rank, size_t bytes) {
    common::MutexLock lock(mutex);
    Rank& r = ranks[rank];
    r.moved += bytes;
    if (r.action && r.moved >= r.action_at) {
      const std::function<void()> action = std::exchange(r.action, nullptr);
      lock.Unlock();
      action();
      lock.Lock();
    }
    if (r.slow_bytes > 0 && r.moved >= r.slow_next) {
      r.slow_next = r.moved + r.slow_bytes;
      thawed.WaitFor(lock, std::chrono::duration<double>(r.slow_seconds),
                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return r.killed; });
    }
  }

  // All sockets are shut for writing first, because the killed rank must not be able to notify anybody.
  static void Kill(Rank& r) {
    r.killed = true;
    for (const auto& control : r.controls) shutdown(control->descriptor(), SHUT_WR);
    for (const auto& control : r.controls) shutdown(control->descriptor(), SHUT_RD);
  }
};

InProcessFaults::InProcessFaults() : impl_(std::make_shared<Impl>()) {}
InProcessFaults::~InProcessFaults() = default;

void InProcessFaults::Kill(int rank) {
  const common::MutexLock lock(impl_->mutex);
  Impl::Kill(impl_->ranks[rank]);
  impl_->thawed.NotifyAll();
}

void InProcessFaults::Freeze(int rank) {
  const common::MutexLock lock(impl_->mutex);
  impl_->ranks[rank].frozen = true;
}

void InProcessFaults::Thaw(int rank) {
  const common::MutexLock lock(impl_->mutex);
  impl_->ranks[rank].frozen = false;
  impl_->thawed.NotifyAll();
}

void InProcessFaults::CallAfter(int rank, uint64_t bytes, std::function<void()> action) {
  const common::MutexLock lock(impl_->mutex);
  Impl::Rank& r = impl_->ranks[rank];
  r.action = std::move(action);
  r.action_at = r.moved + bytes;
}

void InProcessFaults::KillAfter(int rank, uint64_t bytes) {
  CallAfter(rank, bytes, [this, rank] { Kill(rank); });
}

void InProcessFaults::FreezeAfter(int rank, uint64_t bytes) {
  CallAfter(rank, bytes, [this, rank] { Freeze(rank); });
}

void InProcessFaults::Slow(int rank, uint64_t bytes, double seconds) {
  const common::MutexLock lock(impl_->mutex);
  Impl::Rank& r = impl_->ranks[rank];
  r.slow_bytes = bytes;
  r.slow_seconds = seconds;
  r.slow_next = r.moved + bytes;
}

namespace {

// Wraps a link so that its rank's faults apply to it.
class FaultyLink : public Link {
 public:
  FaultyLink(std::unique_ptr<Link> link, int rank, std::shared_ptr<InProcessFaults::Impl> faults)
      : link_(std::move(link)), rank_(rank), faults_(std::move(faults)) {}

  ssize_t TrySend(const void* data, size_t bytes, bool more) override {
    const size_t allowed = faults_->Pass(rank_, bytes);
    return allowed == 0 ? 0 : Count(link_->TrySend(data, allowed, more));
  }
  ssize_t TryRecv(void* data, size_t bytes) override {
    const size_t allowed = faults_->Pass(rank_, bytes);
    return allowed == 0 ? 0 : Count(link_->TryRecv(data, allowed));
  }
  std::span<const std::byte> Peek(size_t limit, bool* closed) override {
    *closed = false;
    if (faults_->Pass(rank_, limit) == 0) return {};
    return link_->Peek(limit, closed);
  }
  void Consume(size_t bytes) override {
    link_->Consume(bytes);
    Count(static_cast<ssize_t>(bytes));
  }
  void FinishSend() override { link_->FinishSend(); }
  void FinishRecv() override { link_->FinishRecv(); }
  bool CanSend() const override { return link_->CanSend(); }
  bool CanRecv() const override { return link_->CanRecv(); }
  int descriptor() const override { return link_->descriptor(); }

 private:
  ssize_t Count(ssize_t moved) {
    if (moved > 0) faults_->Moved(rank_, moved);
    return moved;
  }

  std::unique_ptr<Link> link_;
  const int rank_;
  std::shared_ptr<InProcessFaults::Impl> faults_;
};

std::pair<UniqueFd, UniqueFd> SocketPair() {
  int fds[2] = {-1, -1};
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Holds the memory of the rings in both directions between two ranks.
struct PairMemory {
  explicit PairMemory(size_t bytes) : capacity(bytes) {
    for (auto& data : storage) data = std::make_unique_for_overwrite<std::byte[]>(bytes + 64);
  }
  RingView View(int direction) {
    void* data = storage[direction].get();
    size_t space = capacity + 64;
    return {&positions[direction], static_cast<std::byte*>(std::align(64, capacity, data, space)), capacity};
  }

  const size_t capacity;
  std::array<RingPositions, 2> positions = {};
  std::array<std::unique_ptr<std::byte[]>, 2> storage;
};

using Wrap = std::function<std::unique_ptr<Link>(std::unique_ptr<Link>, int rank)>;

void ConnectPair(std::vector<RingOptions>& ranks, int low, int high, const InProcessOptions& options,
                 const Wrap& wrap) {
  auto [low_control, high_control] = SocketPair();
  PeerConnection& at_low = ranks[low].peers[high];
  PeerConnection& at_high = ranks[high].peers[low];
  at_low.control = std::make_shared<ControlChannel>(std::move(low_control));
  at_high.control = std::make_shared<ControlChannel>(std::move(high_control));
  if (options.sockets) {
    auto [low_data, high_data] = SocketPair();
    at_low.link = wrap(std::make_unique<StreamLink>(std::move(low_data)), low);
    at_high.link = wrap(std::make_unique<StreamLink>(std::move(high_data)), high);
    return;
  }
  auto memory = std::make_shared<PairMemory>(options.ring_bytes);
  auto link = [&](int from, int to, int direction) {
    auto keep =
        std::make_shared<std::pair<std::shared_ptr<PairMemory>, std::shared_ptr<Doorbell>>>(memory, ranks[to].bell);
    return wrap(std::make_unique<RingLink>(memory->View(direction), memory->View(1 - direction), ranks[to].bell.get(),
                                           nullptr, std::move(keep)),
                from);
  };
  at_low.link = link(low, high, 0);
  at_high.link = link(high, low, 1);
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeInProcess(int world_size, int generation, Deadlines deadlines,
                                                         const InProcessOptions& options) {
  std::shared_ptr<InProcessFaults::Impl> faults = options.faults ? options.faults->impl() : nullptr;
  const Wrap wrap = [&](std::unique_ptr<Link> link, int rank) -> std::unique_ptr<Link> {
    if (!faults) return link;
    return std::make_unique<FaultyLink>(std::move(link), rank, faults);
  };
  std::vector<RingOptions> ranks(world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    RingOptions& r = ranks[rank];
    r.generation = generation;
    r.rank = rank;
    r.deadlines = deadlines;
    r.peers.resize(world_size);
    r.bell = std::make_shared<Doorbell>();
    if (options.on_error) {
      r.on_error = [rank, on_error = options.on_error](const absl::Status& status,
                                                       const std::vector<Accusation>& accusations) {
        on_error(rank, status, accusations);
      };
    }
    if (options.held_up) r.held_up = [rank, held_up = options.held_up] { return held_up(rank); };
    if (faults) r.monitor_hook = [rank, faults] { faults->Pass(rank, 0); };
  }
  for (int low = 0; low < world_size; ++low) {
    for (int high = low + 1; high < world_size; ++high) ConnectPair(ranks, low, high, options, wrap);
  }
  std::vector<std::unique_ptr<Communicator>> result;
  for (int rank = 0; rank < world_size; ++rank) {
    if (faults) {
      const common::MutexLock lock(faults->mutex);
      InProcessFaults::Impl::Rank fresh;
      for (const PeerConnection& peer : ranks[rank].peers) {
        if (peer.control) fresh.controls.push_back(peer.control);
      }
      std::swap(fresh.controls, faults->ranks[rank].controls);
    }
    result.push_back(std::make_unique<RingCommunicator>(std::move(ranks[rank])));
  }
  return result;
}

}  // namespace rekindle::comm
