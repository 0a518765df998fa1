// The list of nodes, and of the pools that they are of.
#ifndef REKINDLE_COORDINATOR_WEB_NODE_LIST_H_
#define REKINDLE_COORDINATOR_WEB_NODE_LIST_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/web/list_query.h"
#include "coordinator/web/source.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator::web {

const std::vector<std::string>& NodeSorts();

// {"matching", "all", "nodes": [Node]}.
std::string NodeListJson(const std::vector<v1::Node>& nodes, const ListQuery& query);

struct NodeTotals {
  std::map<std::string, int> states;  // Nodes by their state.
  int slots = 0;                      // The slots of nodes that are neither lost nor drained.
  int trainers = 0;                   // The trainers that run there.
};
NodeTotals TotalsOf(const std::vector<v1::Node>& nodes);

// {"currency", "pools": [...]}: what a pool's nodes cost and emit, and how many there are.
std::string PoolsJson(const PoolBook& book, const std::vector<v1::Node>& nodes);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_NODE_LIST_H_
