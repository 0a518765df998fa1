// Handles nodes that have to leave. Either a user asked for it, or the node said so itself (SIGTERM, a cloud's notice).
// The node may take its notice back until it is drained.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Makes the node drain, for any reason. Only a shorter time than before counts, and 0 means no limit. REQUIRES:
// `common::IsAmount(within_seconds)`.
void StartDraining(Turn& turn, NodeState& node, double within_seconds, const std::string& reason);

// Drains a node because a user asks for it. `within_seconds` is 0 where there is no limit.
void Drain(Turn& turn, const std::string& name, double within_seconds, const std::string& reason);

// Takes a drain back because a user asks for it. The effects' status is FAILED_PRECONDITION where the node does not
// drain, leaves by itself, or has drained.
void Undrain(Turn& turn, const std::string& name);

// These two take what a report says of leaving, now (`TakeDraining`) or perhaps (`TakeHint`). REQUIRES: the report is
// not refused (nodes/node_report_check.h).
void TakeDraining(Turn& turn, NodeState& node, const v1::NodeReport& report);
void TakeHint(Turn& turn, NodeState& node, const v1::NodeReport& report);

// Emits the event that the node is lost or heard of again. The caller must call this when `node.lost` has changed. A
// node that was drained has ended as it was asked to, and that is told once.
void TellHeardOrLost(Turn& turn, const NodeState& node, double silent_seconds);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_DRAINING_H_
