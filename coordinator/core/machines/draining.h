// Handles nodes that have to leave, because a user has asked for that, or because the node itself has announced it
// (after SIGTERM or a cloud's notice). The node may take its notice back until it is drained.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Makes the node drain, for any reason. `within_seconds` counts only where it is shorter than the limit before, and 0
// means no limit. REQUIRES: `common::IsAmount(within_seconds)`.
void StartDraining(Turn& turn, NodeState& node, double within_seconds, const std::string& reason);

// Drains a node because a user asks for it. `within_seconds` is 0 where there is no limit.
void Drain(Turn& turn, const std::string& name, double within_seconds, const std::string& reason);

// Takes a drain back because a user asks for it. The effects' status is FAILED_PRECONDITION where the node does not
// drain, has announced itself that it leaves, or has drained.
void Undrain(Turn& turn, const std::string& name);

// `TakeDraining` notes where an agent reports that its node has to leave, and `TakeHint` where it reports that the node
// may soon have to leave. REQUIRES: the report is not refused (nodes/node_report_check.h).
void TakeDraining(Turn& turn, NodeState& node, const v1::NodeReport& report);
void TakeHint(Turn& turn, NodeState& node, const v1::NodeReport& report);

// Emits an event that the node is lost or heard of again. A drained node that falls silent is not lost: one event tells
// that it has ended as it was asked to. The caller must call TellHeardOrLost when `node.lost` has changed.
void TellHeardOrLost(Turn& turn, const NodeState& node, double silent_seconds);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_
