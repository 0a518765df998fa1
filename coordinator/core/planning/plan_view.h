// Declares what the planner sees of nodes and jobs: pools in groups of equal nodes, with their slots counted.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

struct SlotAt {
  NodeState* node = nullptr;
  int slot = 0;
  // `name` is the node's name. Reading the names of thousands of nodes from their records takes milliseconds, because
  // the records lie elsewhere in memory.
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
  // `held` are the job's slots by group, except for slots on nodes that drain.
  std::vector<std::vector<SlotAt>> held;
  // `runs` says that the job's members work, or will again, on nodes that it has not given up.
  bool runs = false;
  // `moved` says that the job wants slots only on its new kind of device (first_epoch.h).
  bool moved = false;
  // `leaves` says that jobs with a better claim take all of the job's slots.
  bool leaves = false;
  // `circles` says that the job stops because gangs would wait for each other's slots.
  bool circles = false;
  // `placed` says that the job has other slots than before the cycle.
  bool placed = false;
  // `before` maps the slots that the job was giving up when the cycle began to the reasons.
  std::map<std::string, std::string> before;
  // `missing` are the slots of the job's plan for which there is no node yet.
  scheduler::SlotList missing;
  // `at_risk` are the job's slots on ordered nodes that may be taken soon.
  std::vector<SlotAt> at_risk;
  // `off_peak` says until when the job waits for its off-peak hours. It is empty where the job does not wait.
  std::string off_peak;
};

// OrderedNodes are the nodes of one pool that were ordered.
struct OrderedNodes {
  // `there` are the nodes that are to stay in the pool.
  std::vector<NodeState*> there;
  // `leaving` are nodes that have a notice, may be taken soon or drain by plan, and are not empty yet.
  std::vector<NodeState*> leaving;
  // `released` are leaving nodes that are empty, or whose drain limit is over.
  std::vector<NodeState*> released;
};

// A PlanView points into the state. It is valid as long as nothing is added to the state or removed from it.
struct PlanView {
  // `groups` are in the order of `fleet.pools`, where the pools that take orders come first.
  std::vector<Group> groups;
  scheduler::FleetView fleet;
  // `pool_names` and `ordered` have an entry for each group that takes orders, in the order of `groups`.
  std::vector<std::string> pool_names;
  std::vector<OrderedNodes> ordered;
  // `look_at` is when a plan has to be made again, because off-peak hours of a job begin or end, or its budget may have
  // more room.
  double look_at = kNever;
  // `jobs` are the jobs that are not over, in order of submission.
  std::vector<JobSlots> jobs;
  std::vector<scheduler::CycleJob> demands;
  // `emissions` are the emissions of the pools of `ordered`, keyed by the power that a node draws.
  std::map<double, std::vector<scheduler::Emission>> emissions;
};

// Returns the slot's name, "<node>/<slot>".
inline std::string NameOf(const SlotAt& at) {
  return absl::StrCat(absl::string_view(at.name.data(), at.name.size()), "/", at.slot);
}

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_H_
