// Takes in what is said of nodes: by their agents, and by their records after a start.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_
#define REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Takes an agent's report. Returns false where nothing has changed that anybody but the planner acts on.
bool AcceptNodeReport(Turn& turn, const NodeReported& event);
// Looks again at what agents have reported of processes. A job that has a record only from now on may have lost
// trainers before, when nobody could take that in.
void TakeProcessesAgain(Turn& turn);
void AdoptNode(Turn& turn, const v1::NodeRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_
