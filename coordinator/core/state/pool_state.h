// Defines what the core knows of a pool that takes orders, and of the machines that run there.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_

#include <map>
#include <string>

#include "coordinator/core/state/events.h"
#include "coordinator/core/state/mark.h"
#include "coordinator/core/state/trainer.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Describes a machine of a pool that takes orders, from when it runs.
struct WatchedMachine {
  v1::PoolRecord::Machine record;
  // This process first heard of the machine at this time.
  double seen = 0;
  // Its node has registered, so the pool's record does not have the machine any more.
  bool registered = false;
};

// Describes a pool whose nodes come by orders.
struct PoolState {
  // The record has no machines here. They are in `machines`.
  v1::PoolRecord record;
  DirtyMark must_save;
  // All of these run and have a name. Keys are provider's ids.
  std::map<std::string, WatchedMachine> machines;
  // The pool's provider has said what runs.
  bool listed = false;
  // Since this time machines have run there that this cluster has not ordered (see Surplus).
  double not_ours_since = kNever;
  bool told_not_ours = false;
  // Since this time the pool has had nodes that its provider does not name.
  double unnamed_since = kNever;
  // An event has told of the unnamed nodes.
  bool told_unnamed = false;
  PoolOrder told;
  bool is_told = false;
  PoolReported reported;
  bool avoided = false;
  // The pool is avoided because what it says it runs has not come.
  bool given_up = false;
  double avoid_until = -kNever;
  // The pool was last avoided this long. It is 0 again once an order was fulfilled.
  double avoid_seconds = 0;
  // What is ordered has not come since this time.
  double short_since = kNever;
  // This many nodes were there at `short_since` or later.
  int short_at = 0;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_POOL_STATE_H_
