// Decides when a pending operation has stood still for too long: first to ask the peers, then to judge.
//
// Pure: no clock, no threads. Times are seconds of any one clock.
#ifndef REKINDLE_WORKER_COMM_STALL_H_
#define REKINDLE_WORKER_COMM_STALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/comm/communicator.h"

namespace rekindle::comm {

// When: peers are asked from half of the deadline on, judged at its end. An observer that was itself stopped (frozen,
// starved) begins to ask anew, since answers may wait unread.
class StallDetector {
 public:
  enum class Action { kNone, kPing, kJudge };
  // To be called whenever NextLook() has come, and more often at will.
  Action Observe(double now, bool pending, double last_moved, double deadline);
  // How long the observer may sleep.
  double SecondsToNextLook(double now, bool pending, double last_moved, double deadline) const;

 private:
  double last_look_ = 0;
  double first_ping_ = 0;  // Of the present stall; 0: none.
  double last_ping_ = 0;
};

// What a rank knows about a peer when it judges.
struct PeerView {
  bool present = false;    // Connected, and has not left.
  double last_answer = 0;  // To a ping.
  uint64_t issued = 0;     // Collectives it had issued by then.
};

struct StallView {
  double now = 0;
  double deadline = 0;
  double stalled = 0;           // Seconds without progress.
  uint64_t collective = 0;      // Sequence of the pending collective; 0: point to point.
  uint64_t waiting_for = 0;     // Ranks the operation waits for here, one bit each.
  std::vector<PeerView> peers;  // By rank; the own one is not present.
};

// Who is to blame: those that do not answer (frozen, or cut off); else those that have not come to this operation;
// else those this rank waits for. A rank that merely waits for another is never blamed while a better one is known.
std::vector<Accusation> JudgeStall(const StallView& view);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_STALL_H_
