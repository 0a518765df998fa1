// Which reports of a node say nothing new: nearly all of them, and there are thousands a second.
#ifndef REKINDLE_COORDINATOR_CORE_HEARTBEAT_H_
#define REKINDLE_COORDINATOR_CORE_HEARTBEAT_H_

#include "rekindle/v1/node.pb.h"

namespace rekindle::core {

// Do both say the same, but for what each call may have anew: what it knows and how long it waits, log lines, and that
// the node may be taken?
bool SaysTheSame(const v1::NodeReport& a, const v1::NodeReport& b);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_HEARTBEAT_H_
