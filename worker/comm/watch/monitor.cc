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

Monitor::Monitor(Options options, Mesh& mesh, const OperationLedger& ledger, const DeviceLane& device_lane)
    : options_(std::move(options)),
      mesh_(mesh),
      ledger_(ledger),
      device_lane_(device_lane),
      peers_(options_.controls.size()),
      progress_seconds_(options_.deadlines.progress_seconds) {
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    peers_[rank].control = options_.controls[rank];
    peers_[rank].open = peers_[rank].present = peers_[rank].control != nullptr;
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
    if (!stop_.load()) CheckStalls(now);
  }
}

double Monitor::SleepSeconds() {
  const double now = common::SteadySeconds();
  const double deadline = progress_seconds_.load();
  const DeviceLane::View lane = device_lane_.Look();
  double sleep =
      std::min(host_stall_.SecondsToNextLook(now, ledger_.pending.load(), mesh_.last_moved(), deadline),
               device_stall_.SecondsToNextLook(now, lane.pending, lane.since, std::max(deadline, lane.least_seconds)));
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
        peer.open = peer.present = false;
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
      pong.device_reached = device_lane_.Look().reached;
      pong.held_up = options_.held_up && options_.held_up() ? 1 : 0;
      peer.control->Send(pong);
      return;
    }
    case ControlFrame::kPong:
      peer.last_answer = common::SteadySeconds();
      peer.issued = frame.issued;
      peer.device_reached = frame.device_reached;
      if (frame.held_up != 0) peer.held_up_at = peer.last_answer;
      return;
    case ControlFrame::kDoorbell:
      mesh_.Wake();
      return;
    case ControlFrame::kAbort:
      HandleAbort(rank, frame);
      return;
    case ControlFrame::kClose:
      peer.left = true;
      peer.present = false;
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

void Monitor::CheckStalls(double now) {
  const double deadline = progress_seconds_.load();
  const DeviceLane::View lane = device_lane_.Look();
  const auto host = host_stall_.Observe(now, ledger_.pending.load(), mesh_.last_moved(), deadline);
  const double device_deadline = std::max(deadline, lane.least_seconds);
  const auto device = device_stall_.Observe(now, lane.pending, lane.since, device_deadline);
  if (host == StallDetector::Action::kPing || device == StallDetector::Action::kPing) Ping();
  if (host == StallDetector::Action::kJudge) Judge(host_stall_, HostView(), now, deadline);
  if (stop_.load()) return;
  if (device == StallDetector::Action::kJudge) Judge(device_stall_, DeviceView(), now, device_deadline);
}

void Monitor::Ping() {
  const ControlFrame ping{.type = ControlFrame::kPing, .token = ++ping_token_};
  for (Peer& peer : peers_) {
    if (peer.present) peer.control->Send(ping);
  }
}

StallView Monitor::HostView() const {
  StallView view{.since = mesh_.last_moved(),
                 .collective = ledger_.collective.load(),
                 .waiting_for = mesh_.waiting_for(),
                 .not_there = "has not issued collective"};
  for (const Peer& peer : peers_) {
    view.peers.push_back({peer.present, peer.last_answer, peer.issued, peer.held_up_at});
  }
  return view;
}

StallView Monitor::DeviceView() const {
  const DeviceLane::View lane = device_lane_.Look();
  StallView view{.since = lane.since,
                 .collective = lane.collective,
                 .waiting_for = lane.waiting_for,
                 .not_there = "its device has not come to collective"};
  for (const Peer& peer : peers_) {
    view.peers.push_back({peer.present, peer.last_answer, peer.device_reached, peer.held_up_at});
  }
  return view;
}

void Monitor::Judge(StallDetector& detector, StallView view, double now, double deadline) {
  view.now = now;
  view.deadline = deadline;
  std::vector<Accusation> accusations = JudgeStall(view);
  if (accusations.empty() && IsExcused(view)) {
    if (detector.PingsAfterExcuse(now, deadline)) Ping();
    return;
  }
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
