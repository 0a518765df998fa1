// Makes sure that a user's call that is refused changes nothing, however far its verb had come when it had to refuse.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_REFUSAL_H_
#define REKINDLE_COORDINATOR_CORE_STATE_REFUSAL_H_

#include <optional>
#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the event is a user's verb, which may be refused.
bool IsVerb(const Event& event);

// Keeps a copy of what a user's verb may change, as it was before the verb.
class Before {
 public:
  Before(const State& state, const Event& event);

  void PutBack(State& state);

 private:
  std::optional<Job> job_;
  std::optional<NodeState> node_;
  bool plan_due_ = false;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_REFUSAL_H_
