// What the planner sees of nodes and jobs: pools in groups of equal nodes, slots counted.
#ifndef REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_
#define REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

struct SlotAt {
  NodeState* node = nullptr;
  int slot = 0;
  std::string_view name;  // Of the node: its record's is elsewhere in memory, which for thousands takes milliseconds.
};

// Nodes of one pool.
struct Group {
  std::string pool;
  std::vector<SlotAt> free;  // By name of node.
};

struct JobSlots {
  Job* job = nullptr;
  std::vector<std::vector<SlotAt>> held;      // By group; not those that drain.
  bool runs = false;                          // Its members work, or will again, on nodes that it has not given up.
  bool moved = false;                         // Wants none of these but on its new kind of device (first_epoch.h).
  bool leaves = false;                        // All of it is taken by jobs above.
  bool circles = false;                       // It stops, as gangs would wait for each other's slots.
  bool placed = false;                        // It has other slots than before the cycle.
  std::map<std::string, std::string> before;  // What it gave up when the cycle began.
  scheduler::SlotList missing;                // Of its plan: there is no node for these yet.
  std::vector<SlotAt> aside;                  // On ordered nodes that may be taken soon.
  std::string off_peak;                       // Until when it waits for its hours; empty: it does not.
};

// Nodes that were ordered.
struct OrderedNodes {
  std::vector<NodeState*> there;     // To stay.
  std::vector<NodeState*> leaving;   // Noticed, hinted at or drained by plan; not yet empty.
  std::vector<NodeState*> released;  // Empty, or out of time.
};

// Points into the state: lives as long as nothing is added to it or removed.
struct PlanView {
  std::vector<Group> groups;  // As `fleet.pools`: those that take orders first.
  scheduler::FleetView fleet;
  std::vector<std::string> pool_names;  // Of those that take orders.
  std::vector<OrderedNodes> ordered;    // The same.
  double look_at = kNever;              // When hours of a job begin or end.
  std::vector<JobSlots> jobs;           // In order of submission, those that are not over.
  std::vector<scheduler::CycleJob> demands;
  std::map<double, std::vector<scheduler::Emission>> emissions;  // By what a node draws; those of `ordered`.
};

PlanView MakePlanView(Turn& turn);

// "<node>/<slot>".
std::string NameOf(const SlotAt& at);

// Has that slot a trainer of the job that is in, or can join?
bool HasArrived(const Turn& turn, const Job& job, const SlotAt& at);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLAN_VIEW_H_
