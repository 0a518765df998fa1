// Ends the running generation of a job, so that another one can follow.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_REGROUP_H_
#define REKINDLE_COORDINATOR_CORE_STATE_REGROUP_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Ends the running generation, and makes its members wait. `failure` says that evidence of a failure ends it, and not
// an agreed boundary. The agents of the members are then probed.
void OpenForming(Turn& turn, Job& job, const std::string& reason, bool failure);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_REGROUP_H_
