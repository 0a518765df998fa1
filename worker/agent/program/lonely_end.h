// Ends a machine that has been without a coordinator for as long as it may run (decisions/alone.h). Writes the
// machine's limits down, so that the next agent of this folder continues with them.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_

#include <limits>
#include <optional>
#include <string>

#include "worker/agent/decisions/alone.h"
#include "worker/agent/folder/node_folder.h"

namespace rekindle::agent {

// Holds what decides, apart from the time limits, whether a machine without a coordinator may end.
struct LonelyView {
  bool connected = false;
  // `keeps_final_state` says that a trainer has a final state that is not durable.
  bool keeps_final_state = false;
  // `is_busy` says that a trainer makes steps or saves.
  bool is_busy = false;
};

// A LonelyEnd is thread-compatible.
class LonelyEnd {
 public:
  // Reads the machine's limits that an earlier agent wrote down in the node's folder. `folder` must outlive this
  // object. `boot` is the id of this boot. `first_heard_seconds` is as in AgentOptions.
  LonelyEnd(const NodeFolder* folder, std::string boot, double first_heard_seconds);

  // Takes what a coordinator's answer says of how long the machine may run without a coordinator, and of how long its
  // jobs may spend, as Alone::Heard does.
  void Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending);

  // Returns whether the machine has to end now. Busy trainers get some time to save, and a final state that is not
  // durable keeps the machine running.
  bool IsDue(const LonelyView& view);
  // Returns the seconds until IsDue may return true, or infinity.
  double SecondsToLook() const;
  // Removes the machine's limits that were written down in the node's folder. The next agent of the folder then begins
  // to count from zero.
  void Forget() const;

 private:
  void WriteDown();

  const NodeFolder* const folder_;
  const std::string boot_;
  Alone alone_;
  double written_until_ = std::numeric_limits<double>::infinity();
  // `told_at_` is when the log said that the machine ends, in boot seconds. It is 0 if the machine is not ending.
  double told_at_ = 0;
  // `kept_told_at_` is when the log last said that a final state keeps the machine running.
  double kept_told_at_ = -std::numeric_limits<double>::infinity();
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_
