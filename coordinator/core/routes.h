// Routes each event to the part of the core that handles it.
#ifndef REKINDLE_COORDINATOR_CORE_ROUTES_H_
#define REKINDLE_COORDINATOR_CORE_ROUTES_H_

#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A Concern says which jobs and nodes an event can concern.
struct Concern {
  // The event concerns only `jobs`, unless `all` is set.
  std::vector<Job*> jobs;
  bool all = false;
  // `nodes` says that what is known of nodes has changed, or is to be looked at.
  bool nodes = false;
};

// Applies the event to the state, but decides nothing. REQUIRES: the cluster does not listen, or the event is
// `ListenedFirst`, with which all that was heard while listening is applied.
Concern RouteEvent(Turn& turn, const Event& event);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ROUTES_H_
