// Nodes that are to leave: because a user asked, or because the node said so itself (SIGTERM, a cloud's notice), which
// it may take back until it is drained.
#ifndef REKINDLE_COORDINATOR_CORE_DRAINING_H_
#define REKINDLE_COORDINATOR_CORE_DRAINING_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// For any reason; a shorter time than before counts. 0: no limit. REQUIRES: within_seconds IsAmount.
void StartDraining(Turn& turn, NodeState& node, double within_seconds, const std::string& reason);

// A user asks. within_seconds 0: no limit.
void Drain(Turn& turn, const std::string& name, double within_seconds, const std::string& reason);

// A user takes a drain back. Refused: FAILED_PRECONDITION where the node does not drain, leaves by itself or has
// drained.
void Undrain(Turn& turn, const std::string& name);

// What a report says of leaving, now or perhaps. REQUIRES: it is not refused (nodes.cc).
void TakeDraining(Turn& turn, NodeState& node, const v1::NodeReport& report);
void TakeHint(Turn& turn, NodeState& node, const v1::NodeReport& report);

// Whether it is lost has changed. One that was drained has ended as it was asked to, which is told once.
void TellHeardOrLost(Turn& turn, const NodeState& node, double silent_seconds);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_DRAINING_H_
