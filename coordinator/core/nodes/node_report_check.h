// Decides which reports of agents are refused: those of another release, and those that are malformed.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORT_CHECK_H_
#define REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORT_CHECK_H_

#include <string>

#include "rekindle/v1/node.pb.h"

namespace rekindle::core {

// A node has at most this many slots.
inline constexpr int kMaxSlots = 1024;

// Returns why an agent's report is refused, and what to do. Returns an empty string where it is not refused.
std::string FindRefusal(const v1::NodeReport& report, bool allow_fake_devices);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_NODE_REPORT_CHECK_H_
