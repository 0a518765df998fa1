// A refused call changes nothing, however far its verb had come when it found out that it must refuse.
#ifndef REKINDLE_COORDINATOR_CORE_REFUSAL_H_
#define REKINDLE_COORDINATOR_CORE_REFUSAL_H_

#include <optional>
#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Is it a user's verb, which may be refused?
bool IsVerb(const Event& event);

// What a user's verb may change, as it was before.
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

#endif  // REKINDLE_COORDINATOR_CORE_REFUSAL_H_
