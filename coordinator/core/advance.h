// Looks at a job after each event and decides all that is due for it, in one place.
#ifndef REKINDLE_COORDINATOR_CORE_ADVANCE_H_
#define REKINDLE_COORDINATOR_CORE_ADVANCE_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Looks at the whole job and decides whatever is due. It is idempotent.
void Advance(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ADVANCE_H_
