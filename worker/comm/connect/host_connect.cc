#include "worker/comm/connect/host_connect.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/time/clock.h"
#include "worker/comm/links/ring_link.h"
#include "worker/comm/links/stream_link.h"
#include "worker/comm/watch/handshake.h"

namespace rekindle::comm {
namespace {

// A dial gives up after `kDialSeconds`, because a new dial repeats a lost SYN sooner than the kernel would.
constexpr double kDialSeconds = 1;
constexpr double kFirstPause = 0.005;
constexpr double kLongestPause = 0.1;
// After the deadline to connect, the other ranks get `kGraceSeconds` to report who is missing.
constexpr double kGraceSeconds = 0.5;
// The attempt to connect asks `cancelled` every `kPollMilliseconds` whether it has to end.
constexpr int kPollMilliseconds = 10;

// Both sides of a connection send the bytes of a Setup after the handshake, just as they lie in memory.
struct Setup {
  uint32_t mapped = 0;
  uint32_t reserved = 0;
  SegmentOffer offer;
};
static_assert(sizeof(Setup) == 40);

absl::Status Exchange(int fd, const Setup& mine, Setup* theirs, const WaitLimit& limit) {
  if (absl::Status sent = WriteFull(fd, &mine, sizeof(mine), limit); !sent.ok()) return sent;
  return ReadFull(fd, theirs, sizeof(*theirs), limit);
}

}  // namespace

HostConnect::HostConnect(ListenerImpl& listener, HostOptions options, std::function<bool()> cancelled)
    : listener_(listener),
      options_(std::move(options)),
      cancelled_(std::move(cancelled)),
      membership_(common::Xxh3_64(options_.membership.data(), options_.membership.size())),
      deadline_(common::SteadySeconds() + options_.deadlines.connect_seconds),
      pairs_(options_.peers.size()) {
  for (int peer = 0; peer < world_size(); ++peer) ranks_on_host_ += SameHost(peer);
  listener_.Register(options_.generation);
}

HostConnect::~HostConnect() {
  cancel_.Set();
  listener_.WakeTakers();
  for (std::thread& thread : threads_) thread.join();
  listener_.Unregister(options_.generation);
}

bool HostConnect::SameHost(int peer) const {
  const std::string& own = options_.peers[options_.rank].host;
  return options_.allow_shared_memory && !own.empty() && options_.peers[peer].host == own;
}

WaitLimit HostConnect::Soon(double seconds) const {
  return {std::min(deadline_, common::SteadySeconds() + seconds), &cancel_};
}

absl::StatusOr<std::unique_ptr<RingCommunicator>> HostConnect::Run(std::vector<Accusation>* accused) {
  if (ranks_on_host_ > 1) {
    // If the shared-memory segment cannot be made, the ranks of this host connect through TCP.
    auto segment = SharedSegment::Create(options_.rank, world_size(), ranks_on_host_);
    if (segment.ok()) segment_ = *std::move(segment);
  }
  for (int peer = 0; peer < world_size(); ++peer) {
    if (peer == options_.rank) continue;
    threads_.emplace_back([this, peer] { RunPair(peer); });
  }
  const Verdict verdict = AwaitAll();
  cancel_.Set();
  listener_.WakeTakers();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const common::MutexLock lock(mutex_);
  if (verdict.status.ok()) return Build();
  const ControlFrame notice = MakeAbort(verdict);
  for (const Pair& pair : pairs_) {
    if (pair.control) pair.control->Send(notice);
  }
  if (accused != nullptr) *accused = verdict.accusations;
  return verdict.status;
}

void HostConnect::RunPair(int peer) {
  Pair pair;
  double pause = kFirstPause;
  while (true) {
    pair = Pair{};
    pair.status = peer < options_.rank ? Connect(peer, pair, &pause) : Accept(peer, pair);
    if (pair.status.ok() || absl::IsCancelled(pair.status) || common::SteadySeconds() >= deadline_) break;
    {
      const common::MutexLock lock(mutex_);
      pairs_[peer].status = pair.status;
    }
    if (!Pause(pause, {deadline_, &cancel_}).ok()) break;
    pause = std::min(2 * pause, kLongestPause);
  }
  const common::MutexLock lock(mutex_);
  // The last try fails with a missed deadline. The error of an earlier try to connect to this peer explains more, so
  // that one is kept.
  if (!pair.status.ok() && !pairs_[peer].status.ok()) pair.status = pairs_[peer].status;
  pair.finished = true;
  pairs_[peer] = std::move(pair);
  changed_.Set();
}

absl::StatusOr<UniqueFd> HostConnect::Dial(int peer, const Hello& hello) {
  absl::StatusOr<UniqueFd> fd = ConnectTcp(options_.peers[peer].address, Soon(kDialSeconds));
  if (!fd.ok()) return fd.status();
  absl::Status proved = ConnectorHandshake(fd->get(), listener_.secret(), hello, Soon(kHandshakeSeconds));
  if (absl::IsUnavailable(proved)) {
    return absl::UnavailableError("it closed the connection in the handshake: another version, or another generation");
  }
  if (!proved.ok()) return proved;
  return fd;
}

absl::Status HostConnect::Connect(int peer, Pair& pair, double* pause) {
  Hello hello{.generation = options_.generation, .from = options_.rank, .to = peer};
  hello.world_size = world_size();
  hello.membership = membership_;
  hello.nonce = RandomNonce();
  std::copy_n(hello.nonce.begin(), sizeof(hello.attempt), reinterpret_cast<uint8_t*>(&hello.attempt));
  absl::StatusOr<UniqueFd> control = Dial(peer, hello);
  if (!control.ok()) return control.status();
  *pause = kFirstPause;
  // The read of the peer's Setup may last until the deadline, because the peer sends its Setup only once it connects
  // for this generation too.
  const WaitLimit limit{deadline_, &cancel_};
  Setup theirs;
  if (absl::Status got = ReadFull(control->get(), &theirs, sizeof(theirs), limit); !got.ok()) return got;
  Setup mine;
  if (segment_ && SameHost(peer)) {
    mine.offer = segment_->offer();
    auto segment = SharedSegment::Open(theirs.offer, peer, hello.world_size, ranks_on_host_);
    mine.mapped = segment.ok();
    if (segment.ok()) pair.segment = *std::move(segment);
  }
  if (absl::Status done = Exchange(control->get(), mine, &theirs, limit); !done.ok()) return done;
  if (mine.mapped == 0 || theirs.mapped == 0) {
    pair.segment.reset();
    hello.role = ConnectionRole::kData;
    hello.nonce = RandomNonce();
    absl::StatusOr<UniqueFd> data = Dial(peer, hello);
    if (!data.ok()) return data.status();
    if (absl::Status ready = ReadFull(data->get(), &theirs, sizeof(theirs), limit); !ready.ok()) return ready;
    pair.data = *std::move(data);
  }
  pair.control = std::make_shared<ControlChannel>(*std::move(control));
  return absl::OkStatus();
}

absl::Status HostConnect::Accept(int peer, Pair& pair) {
  const WaitLimit limit{deadline_, &cancel_};
  absl::StatusOr<Authenticated> control = listener_.TakeControl(options_.generation, membership_, peer, limit);
  if (!control.ok()) return control.status();
  if (control->hello.to != options_.rank || control->hello.world_size != world_size()) {
    return absl::UnavailableError(
        absl::StrCat("it took this rank for rank ", control->hello.to, " of ", control->hello.world_size));
  }
  const int fd = control->fd.get();
  Setup mine, theirs;
  const bool offered = segment_ && SameHost(peer);
  if (offered) mine.offer = segment_->offer();
  if (absl::Status done = Exchange(fd, mine, &theirs, Soon(kHandshakeSeconds)); !done.ok()) return done;
  mine.mapped = 0;
  if (offered && theirs.mapped != 0) {
    auto segment = SharedSegment::Open(theirs.offer, peer, world_size(), ranks_on_host_);
    mine.mapped = segment.ok();
    if (segment.ok()) pair.segment = *std::move(segment);
  }
  if (absl::Status sent = WriteFull(fd, &mine, sizeof(mine), limit); !sent.ok()) return sent;
  if (mine.mapped == 0) {
    absl::StatusOr<Authenticated> data = listener_.TakeData(control->hello, Soon(kHandshakeSeconds));
    if (!data.ok()) return data.status();
    if (absl::Status ready = WriteFull(data->fd.get(), &mine, sizeof(mine), limit); !ready.ok()) return ready;
    pair.data = std::move(data->fd);
  }
  pair.control = std::make_shared<ControlChannel>(std::move(control->fd));
  return absl::OkStatus();
}

Verdict HostConnect::AwaitAll() {
  while (true) {
    if (cancelled_ && cancelled_()) return {absl::CancelledError("a newer membership has come"), {}};
    bool done = false;
    Verdict verdict = CheckPeers(&done);
    if (done || !verdict.status.ok()) return verdict;
    if (common::SteadySeconds() > deadline_ + kGraceSeconds) {
      const common::MutexLock lock(mutex_);
      return Unreachable();
    }
    WaitForEvents();
  }
}

Verdict HostConnect::CheckPeers(bool* done) {
  const common::MutexLock lock(mutex_);
  bool all_finished = true, all_connected = true, all_joined = true;
  for (int peer = 0; peer < world_size(); ++peer) {
    if (peer == options_.rank) continue;
    Pair& pair = pairs_[peer];
    if (pair.control && !pair.joined) {
      Verdict verdict = ReadControl(peer, pair);
      if (!verdict.status.ok()) return verdict;
    }
    all_finished &= pair.finished;
    all_connected &= pair.control != nullptr;
    all_joined &= pair.joined;
  }
  if (all_connected && !told_joined_) {
    for (const Pair& pair : pairs_) {
      if (pair.control) pair.control->Send({.type = ControlFrame::kJoined});
    }
    told_joined_ = true;
  }
  *done = all_connected && all_joined;
  if (all_finished && !all_connected && common::SteadySeconds() >= deadline_) {
    *done = true;
    return Unreachable();
  }
  return {};
}

Verdict HostConnect::ReadControl(int peer, Pair& pair) {
  ControlFrame frame;
  switch (pair.control->Receive(&frame)) {
    case ControlChannel::Received::kNothing:
      return {};
    case ControlChannel::Received::kClosed:
      return {absl::UnavailableError(absl::StrCat("rank ", peer, " closed its connection while ranks connected")),
              {{peer, Accusation::Kind::kClosed, "its connection closed while ranks connected"}}};
    case ControlChannel::Received::kFrame:
      break;
  }
  // A call of ReadControl reads only one frame, because the frames that follow a peer's kJoined are for the monitor.
  if (frame.type == ControlFrame::kJoined) pair.joined = true;
  if (frame.type == ControlFrame::kAbort) {
    return ReadAbort(frame, peer, options_.rank, world_size());
  }
  return {};
}

Verdict HostConnect::Unreachable() {
  Verdict verdict;
  std::string who;
  for (int peer = 0; peer < world_size(); ++peer) {
    const Pair& pair = pairs_[peer];
    if (peer == options_.rank || pair.joined) continue;
    const bool connected = pair.control != nullptr;
    // A peer that is connected to this rank may wait for others, as this rank does, so it is not accused.
    if (connected && !told_joined_) continue;
    const std::string detail = connected ? "it did not connect to all its peers" : std::string(pair.status.message());
    verdict.accusations.push_back(
        {peer, connected ? Accusation::Kind::kTimeout : Accusation::Kind::kUnreachable, detail});
    absl::StrAppend(&who, who.empty() ? "" : "; ", "rank ", peer, " at ", options_.peers[peer].address, ": ", detail);
  }
  verdict.status = absl::DeadlineExceededError(absl::StrCat(
      "generation ", options_.generation, " not connected within ", options_.deadlines.connect_seconds, " s: ", who));
  return verdict;
}

void HostConnect::WaitForEvents() {
  std::vector<pollfd> fds{{changed_.get(), POLLIN, 0}};
  {
    const common::MutexLock lock(mutex_);
    for (const Pair& pair : pairs_) {
      if (pair.control && !pair.joined) fds.push_back({pair.control->descriptor(), POLLIN, 0});
    }
  }
  poll(fds.data(), fds.size(), kPollMilliseconds);
  if (fds[0].revents != 0) changed_.Clear();
}

std::unique_ptr<RingCommunicator> HostConnect::Build() {
  RingOptions ring{.generation = options_.generation, .rank = options_.rank, .deadlines = options_.deadlines};
  ring.on_error = std::move(options_.on_error);
  ring.held_up = std::move(options_.held_up);
  ring.peers.resize(options_.peers.size());
  ring.bell = segment_ ? std::shared_ptr<Doorbell>(segment_, segment_->bell()) : std::make_shared<Doorbell>();
  for (int peer = 0; peer < world_size(); ++peer) {
    Pair& pair = pairs_[peer];
    if (peer == options_.rank) continue;
    PeerConnection& connection = ring.peers[peer];
    connection.control = pair.control;
    if (!pair.segment) {
      connection.link = std::make_unique<StreamLink>(std::move(pair.data));
      continue;
    }
    auto memory = std::make_shared<std::pair<std::shared_ptr<SharedSegment>, std::shared_ptr<SharedSegment>>>(
        segment_, pair.segment);
    connection.link = std::make_unique<RingLink>(
        pair.segment->Ring(options_.rank), segment_->Ring(peer), pair.segment->bell(),
        [control = pair.control] { control->Send({.type = ControlFrame::kDoorbell}); }, std::move(memory));
  }
  return std::make_unique<RingCommunicator>(std::move(ring));
}

}  // namespace rekindle::comm
