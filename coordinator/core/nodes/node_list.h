// Shows nodes as users see them.
#ifndef REKINDLE_COORDINATOR_CORE_NODES_NODE_LIST_H_
#define REKINDLE_COORDINATOR_CORE_NODES_NODE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

v1::Node ShowNode(const State& state, const NodeState& node, double now);
// Returns at most `at_most` nodes in the order of their names, beginning after the name `after`.
std::vector<v1::Node> ListNodes(const State& state, double now, const std::string& after, size_t at_most);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NODES_NODE_LIST_H_
