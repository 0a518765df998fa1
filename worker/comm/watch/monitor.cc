#include "worker/comm/watch/monitor.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::comm {
namespace {

// After a data link broke, the monitor waits `kSuspicionSeconds` for the peer's control channel to give the reason.
constexpr double kSuspicionSeconds = 0.2;

}  // namespace

Monitor::Monitor(Options options, Mesh& mesh, const OperationLedger& ledger)
    : options_(std::move(options)),
      mesh_(mesh),
      ledger_(ledger),
      peers_(options_.controls.size()),
      progress_seconds_(options_.deadlines.progress_seconds) {
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    peers_[rank].control = options_.controls[rank];
    peers_[rank].open = peers_[rank].view.present = peers_[rank].control != nullptr;
  }
}

Monitor::~Monitor() { Join(); }

void Monitor::Join() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Monitor::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Monitor::Stop() {
  stop_.store(true);
  wake_.Set();
}

void Monitor::LinkClosed(int peer) {
  closed_links_.fetch_or(uint64_t{1} << peer);
  wake_.Set();
}

void Monitor::SetDeadlines(const Deadlines& deadlines) {
  progress_seconds_.store(deadlines.progress_seconds);
  wake_.Set();
}

void Monitor::Run() {
  while (!stop_.load()) {
    WaitForEvents();
    if (options_.turn_hook) options_.turn_hook();
    for (int rank = 0; rank < static_cast<int>(peers_.size()) && !stop_.load(); ++rank) {
      if (peers_[rank].open) ReadFrames(rank);
    }
    const double now = common::SteadySeconds();
    if (!stop_.load()) CheckSuspects(now);
    if (!stop_.load()) CheckStall(now);
  }
}

double Monitor::SleepSeconds() {
  const double now = common::SteadySeconds();
  double sleep = stall_.SecondsToNextLook(now, ledger_.pending.load(), mesh_.last_moved(), progress_seconds_.load());
  for (const Peer& peer : peers_) {
    if (peer.suspected > 0) sleep = std::min(sleep, std::max(0.0, peer.suspected + kSuspicionSeconds - now));
  }
  return sleep;
}

void Monitor::WaitForEvents() {
  std::vector<pollfd> fds;
  fds.push_back({wake_.get(), POLLIN, 0});
  for (const Peer& peer : peers_) {
    if (peer.open) fds.push_back({peer.control->descriptor(), POLLIN, 0});
  }
  poll(fds.data(), fds.size(), static_cast<int>(std::ceil(SleepSeconds() * 1000)));
  if (fds[0].revents != 0) wake_.Clear();
}

void Monitor::ReadFrames(int rank) {
  Peer& peer = peers_[rank];
  ControlFrame frame;
  while (!stop_.load()) {
    switch (peer.control->Receive(&frame)) {
      case ControlChannel::Received::kNothing:
        return;
      case ControlChannel::Received::kFrame:
        Handle(rank, frame);
        break;
      case ControlChannel::Received::kClosed:
        peer.open = peer.view.present = false;
        if (peer.left) return;
        Fail({absl::UnavailableError(absl::StrCat("rank ", rank, " closed its connection")),
              {{rank, Accusation::Kind::kClosed, "its connection closed"}}});
        return;
    }
  }
}

void Monitor::Handle(int rank, const ControlFrame& frame) {
  Peer& peer = peers_[rank];
  switch (frame.type) {
    case ControlFrame::kPing: {
      ControlFrame pong{.type = ControlFrame::kPong, .token = frame.token};
      pong.issued = ledger_.issued.load();
      pong.completed = ledger_.completed.load();
      peer.control->Send(pong);
      return;
    }
    case ControlFrame::kPong:
      peer.view.last_answer = common::SteadySeconds();
      peer.view.issued = frame.issued;
      return;
    case ControlFrame::kDoorbell:
      mesh_.Wake();
      return;
    case ControlFrame::kAbort:
      HandleAbort(rank, frame);
      return;
    case ControlFrame::kClose:
      peer.left = true;
      peer.view.present = false;
      mesh_.PeerLeft(rank);
      return;
    default:
      // A peer that was slow to connect may still send kJoined, which needs no answer.
      return;
  }
}

void Monitor::HandleAbort(int rank, const ControlFrame& frame) {
  Fail(ReadAbort(frame, rank, mesh_.rank(), static_cast<int>(peers_.size())));
}

void Monitor::CheckSuspects(double now) {
  const uint64_t closed = closed_links_.load();
  for (int rank = 0; rank < static_cast<int>(peers_.size()) && !stop_.load(); ++rank) {
    if ((closed >> rank & 1) == 0) continue;
    Peer& peer = peers_[rank];
    if (peer.suspected == 0) peer.suspected = now;
    if (!peer.left && now - peer.suspected < kSuspicionSeconds) continue;
    const std::string detail =
        peer.left ? "it left in good order while an operation was pending" : "its data connection closed";
    Fail({absl::UnavailableError(absl::StrCat("rank ", rank, ": ", detail)),
          {{rank, Accusation::Kind::kClosed, detail}}});
  }
}

void Monitor::CheckStall(double now) {
  const double deadline = progress_seconds_.load();
  switch (stall_.Observe(now, ledger_.pending.load(), mesh_.last_moved(), deadline)) {
    case StallDetector::Action::kNone:
      return;
    case StallDetector::Action::kPing: {
      const ControlFrame ping{.type = ControlFrame::kPing, .token = ++ping_token_};
      for (Peer& peer : peers_) {
        if (peer.view.present) peer.control->Send(ping);
      }
      return;
    }
    case StallDetector::Action::kJudge:
      return Judge(now, deadline);
  }
}

void Monitor::Judge(double now, double deadline) {
  StallView view{.now = now, .deadline = deadline, .stalled = now - mesh_.last_moved()};
  view.collective = ledger_.collective.load();
  view.waiting_for = mesh_.waiting_for();
  for (const Peer& peer : peers_) view.peers.push_back(peer.view);
  std::vector<Accusation> accusations = JudgeStall(view);
  std::string who;
  for (const Accusation& a : accusations)
    absl::StrAppend(&who, who.empty() ? "" : "; ", "rank ", a.rank, ": ", a.detail);
  if (who.empty()) who = "every peer answers and has come to the operation";
  Fail({absl::DeadlineExceededError(absl::StrCat("deadline of ", deadline, " s missed: ", who)),
        std::move(accusations)});
}

void Monitor::Fail(Verdict verdict) {
  stop_.store(true);
  options_.fail(std::move(verdict));
}

}  // namespace rekindle::comm
