#include "worker/comm/watch/stall.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace rekindle::comm {
namespace {

// Pings begin when an operation has stood still for the fraction `kFirstPing` of its deadline.
constexpr double kFirstPing = 0.5;
// Pings of a stalled operation repeat after the fraction `kPingEvery` of its deadline.
constexpr double kPingEvery = 0.125;
// A peer that has not answered a ping for the fraction `kSilence` of the deadline counts as silent.
constexpr double kSilence = 0.4;
constexpr double kSmallestTick = 0.005;
constexpr double kLargestTick = 0.25;

double Tick(double deadline) { return std::clamp(deadline * kPingEvery, kSmallestTick, kLargestTick); }

bool IsExcusedPeer(const PeerView& peer, const StallView& view) {
  return peer.present && peer.held_up_at > 0 && view.now - peer.held_up_at < view.deadline;
}

}  // namespace

StallDetector::Action StallDetector::Observe(double now, bool pending, double last_moved, double deadline) {
  const bool was_away = now - last_look_ > 2 * Tick(deadline) + 0.1 * deadline;
  last_look_ = now;
  if (!pending || now - last_moved < kFirstPing * deadline) {
    first_ping_ = 0;
    return Action::kNone;
  }
  if (first_ping_ == 0 || first_ping_ < last_moved || was_away) {
    first_ping_ = last_ping_ = now;
    return Action::kPing;
  }
  if (now - last_moved >= deadline && now - first_ping_ >= kSilence * deadline) return Action::kJudge;
  if (now - last_ping_ < Tick(deadline)) return Action::kNone;
  last_ping_ = now;
  return Action::kPing;
}

bool StallDetector::PingsAfterExcuse(double now, double deadline) {
  if (now - last_ping_ < Tick(deadline)) return false;
  last_ping_ = now;
  return true;
}

double StallDetector::SecondsToNextLook(double now, bool pending, double last_moved, double deadline) const {
  const double tick = Tick(deadline);
  if (!pending) return tick;
  double next = now + tick;
  for (const double moment : {last_moved + kFirstPing * deadline, last_moved + deadline}) {
    if (moment > now) next = std::min(next, moment);
  }
  return next - now;
}

std::vector<Accusation> JudgeStall(const StallView& view) {
  std::vector<Accusation> silent, behind, awaited;
  const double stalled = view.now - view.since;
  for (int rank = 0; rank < static_cast<int>(view.peers.size()); ++rank) {
    const PeerView& peer = view.peers[rank];
    if (!peer.present) continue;
    if (view.now - peer.last_answer > kSilence * view.deadline) {
      silent.push_back({rank, Accusation::Kind::kTimeout,
                        absl::StrFormat("no answer to a ping; nothing has moved for %.2f s", stalled)});
    }
    if (IsExcusedPeer(peer, view)) continue;
    if (view.collective > 0 && peer.come_to < view.collective) {
      behind.push_back({rank, Accusation::Kind::kTimeout,
                        absl::StrFormat("alive, but %s #%d for %.2f s", view.not_there, view.collective, stalled)});
    }
    if (view.waiting_for >> rank & 1) {
      awaited.push_back(
          {rank, Accusation::Kind::kTimeout, absl::StrFormat("alive, but its data has not moved for %.2f s", stalled)});
    }
  }
  if (!silent.empty()) return silent;
  if (!behind.empty()) return behind;
  // What a rank waits for may wait for the peer that is excused.
  return IsExcused(view) ? std::vector<Accusation>() : awaited;
}

bool IsExcused(const StallView& view) {
  return std::any_of(view.peers.begin(), view.peers.end(),
                     [&](const PeerView& peer) { return IsExcusedPeer(peer, view); });
}

}  // namespace rekindle::comm
