// Nodes: what agents report, and which slot serves which job.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_H_
#define REKINDLE_COORDINATOR_CORE_NODES_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// False: nothing that anybody but the planner acts on has changed.
bool AcceptNodeReport(Turn& turn, const NodeReported& event);
// A job that has a record from now on may have lost trainers before: agents have told that, and nobody could take it.
void TakeProcessesAgain(Turn& turn);
void AdoptNode(Turn& turn, const v1::NodeRecord& record);

// Marks nodes lost, or found again. Returns when to look next.
double WatchNodes(Turn& turn);

// As users see one, and by name at most so many behind `after`.
v1::Node ShowNode(const State& state, const NodeState& node, double now);
std::vector<v1::Node> ListNodes(const State& state, double now, const std::string& after, size_t at_most);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_H_
