// Decides which nodes are lost: those of which neither the agent nor a trainer has said a word for too long.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_SILENT_NODES_H_
#define REKINDLE_COORDINATOR_CORE_NODES_SILENT_NODES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the node was asked to speak, and its agent has not spoken since.
bool IsUnanswered(const NodeState& node);

// Notes that the node is heard of, in its record too.
void NoteHeard(const Turn& turn, NodeState& node);

// Marks nodes as lost or found again, and tells drained nodes to leave. Returns the time at which WatchNodes has to be
// called again.
double WatchNodes(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_SILENT_NODES_H_
