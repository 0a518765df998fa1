// Ends a machine that has heard of no coordinator for as long as it may run (decisions/alone.h), and writes its limits
// down, so that the next agent of this folder goes on counting from them.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_

#include <limits>
#include <optional>
#include <string>

#include "worker/agent/decisions/alone.h"
#include "worker/agent/folder/node_folder.h"

namespace rekindle::agent {

// Says what else decides whether the machine may end.
struct LonelyView {
  bool connected = false;
  // A trainer has a final state that is not durable.
  bool keeps_final_state = false;
  // A trainer makes steps or saves.
  bool is_busy = false;
};

// The class is thread-compatible.
class LonelyEnd {
 public:
  // Reads what an earlier agent wrote down. `folder` must outlive this object. `boot` is the id of this boot.
  // `first_heard_seconds` is as in AgentOptions.
  LonelyEnd(const NodeFolder* folder, std::string boot, double first_heard_seconds);

  // Takes the answer of a coordinator, as Alone::Heard does.
  void Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending);

  // Returns whether the machine has to end now. It ends once nothing is left to be saved.
  bool IsDue(const LonelyView& view);
  // Returns the seconds until IsDue may say so, or infinity.
  double SecondsToLook() const;
  // Removes what was written down. An agent that is started again then begins to count from zero.
  void Forget() const;

 private:
  void WriteDown();

  const NodeFolder* const folder_;
  const std::string boot_;
  Alone alone_;
  double written_until_ = std::numeric_limits<double>::infinity();
  // `told_at_` is in boot seconds. It is 0 if the machine is not ending.
  double told_at_ = 0;
  // `kept_told_at_` is when the log was last told of a final state that keeps the machine.
  double kept_told_at_ = -std::numeric_limits<double>::infinity();
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_LONELY_END_H_
