// Recognizes reports of nodes that say nothing new. Nearly all reports say nothing new, and thousands arrive each
// second.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_HEARTBEAT_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_HEARTBEAT_H_

#include "rekindle/v1/node.pb.h"

namespace rekindle::core {

// Returns whether both reports say the same, but for the fields that each call may set anew: the known revision, the
// time to wait, log lines, whom the node obeys, and the hint that the node may be taken.
bool SaysTheSame(const v1::NodeReport& a, const v1::NodeReport& b);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_HEARTBEAT_H_
