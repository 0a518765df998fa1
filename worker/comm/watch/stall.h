// Decides when a pending operation has stood still for too long. It first says when to ping the peers, then when to
// judge.
//
// The code is pure, without clock and threads. Times are seconds of any one clock.
#ifndef REKINDLE_WORKER_COMM_WATCH_STALL_H_
#define REKINDLE_WORKER_COMM_WATCH_STALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Peers are pinged from half of the deadline on and judged at its end. An observer that was itself stopped (frozen,
// starved) starts the pings again, because answers may wait unread.
class StallDetector {
 public:
  enum class Action { kNone, kPing, kJudge };
  // Returns what to do now. REQUIRES: it is called at least as often as SecondsToNextLook() says.
  Action Observe(double now, bool pending, double last_moved, double deadline);
  // Returns how long the observer may sleep.
  double SecondsToNextLook(double now, bool pending, double last_moved, double deadline) const;

 private:
  double last_look_ = 0;
  // `first_ping_` belongs to the present stall. 0 means that no ping was sent.
  double first_ping_ = 0;
  double last_ping_ = 0;
};

// Holds what a rank knows about a peer when it judges.
struct PeerView {
  // The peer is connected and has not left.
  bool present = false;
  // `last_answer` is when the peer last answered a ping.
  double last_answer = 0;
  // `issued` counts the collectives that the peer had issued by then.
  uint64_t issued = 0;
};

struct StallView {
  double now = 0;
  double deadline = 0;
  // `stalled` is the time without progress, in seconds.
  double stalled = 0;
  // `collective` is the sequence number of the pending collective. It is 0 for point to point.
  uint64_t collective = 0;
  // `waiting_for` has one bit for each rank that the operation waits for here.
  uint64_t waiting_for = 0;
  // `peers` is indexed by rank. The own entry is not present.
  std::vector<PeerView> peers;
};

// Returns whom to blame. First are those that do not answer (frozen, or cut off), then those that have not come to this
// operation, then those that this rank waits for. A rank that merely waits for another is never blamed while a better
// one is known.
std::vector<Accusation> JudgeStall(const StallView& view);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WATCH_STALL_H_
