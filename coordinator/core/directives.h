// What each trainer and agent is told: a pure function of the state, so that asking twice changes nothing. Who knows
// the directive's revision gets that alone.
#ifndef REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_
#define REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

v1::TrainerDirective TrainerDirectiveFor(const State& state, const Job& job, const std::string& trainer,
                                         int known_revision = 0);
// What runs of a job that nobody knows goes on, and says what it is in.
v1::TrainerDirective UnknownJobDirective(int known_revision = 0);
v1::NodeDirective NodeDirectiveFor(const State& state, const std::string& node, int known_revision = 0);
// For an agent that gives the node's name and is not its own. Until it is decided who has the name, and to an agent
// that nobody knows: nothing new.
v1::NodeDirective DirectiveForClaim(const NodeState& node, const std::string& agent, int known_revision);

// Nothing of any job is left on that node, which drains.
bool IsDrained(const State& state, const std::string& node);
// Finds anew what all nodes are told alike. To be called when jobs or nodes have changed.
void RefreshSurroundings(State& state);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_
