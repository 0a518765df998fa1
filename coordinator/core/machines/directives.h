// Computes what each trainer and agent is told. The result is a pure function of the state, so asking twice changes
// nothing. A sender that knows the directive's revision already gets only the revision.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_DIRECTIVES_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_DIRECTIVES_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

v1::TrainerDirective TrainerDirectiveFor(const State& state, const Job& job, const std::string& trainer,
                                         int known_revision = 0);
// Lets a trainer of an unknown job go on, and asks it to say which membership it is in.
v1::TrainerDirective UnknownJobDirective(int known_revision = 0);
v1::NodeDirective NodeDirectiveFor(const State& state, const std::string& node, int known_revision = 0);
// Returns the directive for an agent that reports under the node's name and is not the node's own agent. The directive
// says nothing new until it is decided which machine has the name. It never says anything new to an unknown agent.
v1::NodeDirective DirectiveForClaim(const NodeState& node, const std::string& agent, int known_revision);

// Returns whether the node drains and nothing of any job is left on it.
bool IsDrained(const State& state, const std::string& node);
// Computes anew the part of the directives that is the same for all nodes. The caller must call RefreshSurroundings
// when jobs or nodes have changed.
void RefreshSurroundings(State& state);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_DIRECTIVES_H_
