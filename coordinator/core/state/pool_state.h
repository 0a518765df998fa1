// Defines what the core knows of a pool that takes orders, and of the machines that run there.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_

#include <map>
#include <string>

#include "coordinator/core/state/events.h"
#include "coordinator/core/state/mark.h"
#include "coordinator/core/state/trainer.h"
#include "coordinator/scheduler/demand.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Describes a machine that runs in a pool that takes orders.
struct WatchedMachine {
  v1::PoolRecord::Machine record;
  // `seen` is when this coordinator process first heard of the machine.
  double seen = 0;
  // `registered` says that the machine's node has registered, so that the pool's record does not have the machine any
  // more.
  bool registered = false;
};

// Says that a machine of a pool could not run some jobs with code of their own, so that no other machine is ordered for
// such jobs for a while.
struct UnableMachine {
  // `known_since` is NodeState::known_since of the newest machine that could not.
  double known_since = -kNever;
  // `runs` says which jobs that machine runs.
  scheduler::OwnCode runs = scheduler::OwnCode::kAny;
  double until = -kNever;
  // `seconds` is for how long no other machine is ordered. It doubles with each further machine.
  double seconds = 0;
};

// Describes a pool whose nodes come by orders.
struct PoolState {
  // `record` has no machines, because they are in `machines`.
  v1::PoolRecord record;
  DirtyMark must_save;
  // `machines` holds only machines that run and have a name. Its keys are the provider's ids.
  std::map<std::string, WatchedMachine> machines;
  // `listed` says that the pool's provider has said which machines run.
  bool listed = false;
  // `not_ours_since` is since when machines have run in the pool that this cluster has not ordered (see `Surplus`).
  double not_ours_since = kNever;
  bool told_not_ours = false;
  // `unnamed_since` is since when the pool has had nodes that its provider does not name.
  double unnamed_since = kNever;
  // `told_unnamed` says that an event has told of the unnamed nodes.
  bool told_unnamed = false;
  PoolOrder told;
  bool is_told = false;
  PoolReported reported;
  bool avoided = false;
  // `given_up` says that the pool is avoided because ordered nodes have not come. Then machines that the provider
  // reports as running, and whose nodes have not registered, do not count as nodes on their way.
  bool given_up = false;
  double avoid_until = -kNever;
  // `avoid_seconds` is for how long the pool was last avoided. It is 0 again once an order was fulfilled.
  double avoid_seconds = 0;
  // `short_since` is since when nodes that were ordered have not come.
  double short_since = kNever;
  // `short_at` is how many nodes were there when they were last counted and were too few.
  int short_at = 0;
  UnableMachine unable;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_
