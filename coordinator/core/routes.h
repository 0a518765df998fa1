// Routes each event to the part of the core that takes it in.
#ifndef REKINDLE_COORDINATOR_CORE_ROUTES_H_
#define REKINDLE_COORDINATOR_CORE_ROUTES_H_

#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A Concern says whom an event can concern.
struct Concern {
  // The event concerns these jobs alone, unless `all` is set.
  std::vector<Job*> jobs;
  bool all = false;
  // `nodes` says that what is known of nodes has changed, or is to be looked at.
  bool nodes = false;
};

// Takes the event into the state. What it says is known from now on, but nothing is decided. REQUIRES: the cluster does
// not listen, or the event is `ListenedFirst`, with which all that was heard while listening is taken in.
Concern RouteEvent(Turn& turn, const Event& event);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ROUTES_H_
