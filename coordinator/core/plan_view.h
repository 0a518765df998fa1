// What the planner sees of nodes and jobs: pools in groups of equal nodes, slots counted.
#ifndef REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_
#define REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

struct SlotAt {
  NodeState* node = nullptr;
  int slot = 0;
};

// Nodes of one pool.
struct Group {
  std::string pool;
  std::vector<SlotAt> free;  // By name of node.
};

struct JobSlots {
  Job* job = nullptr;
  std::vector<std::vector<SlotAt>> held;  // By group; not those that drain.
};

// Points into the state: lives as long as nothing is added to it or removed.
struct PlanView {
  std::vector<Group> groups;  // As `fleet.pools`.
  scheduler::FleetView fleet;
  std::vector<JobSlots> jobs;  // In order of submission, those that are not over.
  std::vector<scheduler::CycleJob> demands;
};

PlanView MakePlanView(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_
