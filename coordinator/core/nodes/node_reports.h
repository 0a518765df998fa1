// Records what is known of nodes: from the reports of their agents, and from their records after a start of the
// coordinator.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_
#define REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Records an agent's report. Returns false where nothing has changed on which any part of the core but the planner
// acts.
bool AcceptNodeReport(Turn& turn, const NodeReported& event);
// Looks again at the processes that agents have reported. A job that has a record only from now on may have lost
// trainers before, when there was no record to write that into.
void TakeProcessesAgain(Turn& turn);
void AdoptNode(Turn& turn, const v1::NodeRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORTS_H_
