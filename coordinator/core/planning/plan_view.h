// Shows the planner nodes and jobs: pools in groups of equal nodes, with their slots counted.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/core/state/core_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

struct SlotAt {
  NodeState* node = nullptr;
  int slot = 0;
  // `name` is the node's name. To read it from the node's record takes milliseconds for thousands of nodes, because
  // that is elsewhere in memory.
  std::string_view name;
};

// A Group is made of equal nodes of one pool.
struct Group {
  std::string pool;
  // The free slots are in the order of their nodes' names.
  std::vector<SlotAt> free;
};

struct JobSlots {
  Job* job = nullptr;
  // `held` are the job's slots by group, but for those on nodes that drain.
  std::vector<std::vector<SlotAt>> held;
  // `runs` says that the job's members work, or will again, on nodes that it has not given up.
  bool runs = false;
  // `moved` says that the job wants slots only on its new kind of device (first_epoch.h).
  bool moved = false;
  // `leaves` says that jobs above take all of the job's slots.
  bool leaves = false;
  // `circles` says that the job stops because gangs would wait for each other's slots.
  bool circles = false;
  // `placed` says that the job has other slots than before the cycle.
  bool placed = false;
  // `before` is what the job was giving up when the cycle began.
  std::map<std::string, std::string> before;
  // `missing` are the slots of the job's plan for which there is no node yet.
  scheduler::SlotList missing;
  // `at_risk` are the job's slots on ordered nodes that may be taken soon.
  std::vector<SlotAt> at_risk;
  // `off_peak` says until when the job waits for its hours. It is empty where the job does not wait.
  std::string off_peak;
};

// OrderedNodes are the nodes of one pool that were ordered.
struct OrderedNodes {
  // `there` are the nodes that are to stay.
  std::vector<NodeState*> there;
  // `leaving` are nodes that are noticed, hinted at or drained by plan, and not yet empty.
  std::vector<NodeState*> leaving;
  // `released` are nodes that are empty, or out of time.
  std::vector<NodeState*> released;
};

// A PlanView points into the state. It is valid as long as nothing is added to the state or removed.
struct PlanView {
  // `groups` are in the order of `fleet.pools`, where those that take orders come first.
  std::vector<Group> groups;
  scheduler::FleetView fleet;
  // `pool_names` and `ordered` are those of the groups that take orders, in the same order.
  std::vector<std::string> pool_names;
  std::vector<OrderedNodes> ordered;
  // `look_at` is the next time when hours of a job begin or end.
  double look_at = kNever;
  // `jobs` are those that are not over, in order of submission.
  std::vector<JobSlots> jobs;
  std::vector<scheduler::CycleJob> demands;
  // `emissions` are those of the pools of `ordered`, keyed by the power that a node draws.
  std::map<double, std::vector<scheduler::Emission>> emissions;
};

PlanView MakePlanView(Turn& turn);

// Returns "<node>/<slot>".
std::string NameOf(const SlotAt& at);

// Returns whether that slot has a trainer of the job that is a member, or can join.
bool HasArrived(const Turn& turn, const Job& job, const SlotAt& at);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_
