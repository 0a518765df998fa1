// Makes the web page's list of nodes, and the list of their pools.
#ifndef REKINDLE_COORDINATOR_WEB_VIEWS_NODE_ROWS_H_
#define REKINDLE_COORDINATOR_WEB_VIEWS_NODE_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/web/parts/list_query.h"
#include "coordinator/web/parts/source.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator::web {

const std::vector<std::string>& NodeSorts();

// Returns the list of nodes as {"matching", "all", "nodes": [Node]}.
std::string NodeListJson(const std::vector<v1::Node>& nodes, const ListQuery& query);

struct NodeTotals {
  // The keys of `states` are the names of states, and the values are the numbers of nodes in them.
  std::map<std::string, int> states;
  // `slots` counts the slots of nodes that are neither lost nor drained.
  int slots = 0;
  // `trainers` counts the trainers that run on nodes that are neither lost nor drained.
  int trainers = 0;
};
NodeTotals TotalsOf(const std::vector<v1::Node>& nodes);

// Returns {"currency", "pools": [...]}, which says what each pool's nodes cost and emit, and how many nodes it has.
std::string PoolsJson(const PoolBook& book, const std::vector<v1::Node>& nodes);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_VIEWS_NODE_ROWS_H_
