// Decides when a pending operation has stood still for too long. The detector first says when to ping the peers, then
// when to judge who is to blame.
//
// The code is pure, without clock and threads. Times are seconds of any one clock.
#ifndef REKINDLE_WORKER_COMM_WATCH_STALL_H_
#define REKINDLE_WORKER_COMM_WATCH_STALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Peers are pinged from half of the deadline on and judged at its end. A rank that was itself stopped (frozen, starved)
// pings once more before it judges, because it may not have read its peers' answers yet.
class StallDetector {
 public:
  enum class Action { kNone, kPing, kJudge };
  // Returns what to do now about the pending operation. REQUIRES: Observe() is called at least as often as
  // SecondsToNextLook() says.
  Action Observe(double now, bool pending, double last_moved, double deadline);
  // Returns whether to ping now although Observe() has returned kJudge, because a peer was excused. So peers are pinged
  // as often as before the judgement.
  bool PingsAfterExcuse(double now, double deadline);
  // Returns how long the caller may sleep before the next Observe().
  double SecondsToNextLook(double now, bool pending, double last_moved, double deadline) const;

 private:
  double last_look_ = 0;
  // `first_ping_` is when the peers were first pinged in the present stall. 0 means that no ping was sent.
  double first_ping_ = 0;
  double last_ping_ = 0;
};

// Holds what a rank knows about a peer when it judges who is to blame for a stall.
struct PeerView {
  // `present` says that the peer is connected and has not left.
  bool present = false;
  // `last_answer` is when the peer last answered a ping.
  double last_answer = 0;
  // `come_to` counts the collectives that the peer had come to at its last answer.
  uint64_t come_to = 0;
  // `held_up_at` is when the peer last answered that its model is held up. 0 means that it never did.
  double held_up_at = 0;
};

struct StallView {
  double now = 0;
  double deadline = 0;
  // `since` is when the pending operation last moved.
  double since = 0;
  // `collective` is the sequence number of the pending collective. It is 0 for point to point.
  uint64_t collective = 0;
  // `waiting_for` has one bit for each rank that the pending operation of this rank waits for.
  uint64_t waiting_for = 0;
  // `not_there` says in messages what a peer has not done that has not come to the pending collective.
  const char* not_there = "";
  // `peers` is indexed by rank. In this rank's own entry `present` is false.
  std::vector<PeerView> peers;
};

// Returns whom to blame for a stall. First are the peers that do not answer (frozen, or cut off), then those that have
// not come to the pending operation, then those that this rank waits for. A rank that merely waits for another is never
// blamed while a better candidate is known.
//
// A peer that answers is excused while its model is held up, and gets the whole deadline from then on. While a peer is
// excused, no rank is blamed for the data that does not come.
std::vector<Accusation> JudgeStall(const StallView& view);

// Returns whether some peer is excused, so that a stall for which nobody is to blame may go on.
bool IsExcused(const StallView& view);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WATCH_STALL_H_
