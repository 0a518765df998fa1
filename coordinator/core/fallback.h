// The last resort: nobody of the newest generation holds its state.
#ifndef REKINDLE_COORDINATOR_CORE_FALLBACK_H_
#define REKINDLE_COORDINATOR_CORE_FALLBACK_H_

#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

struct Fallback {
  bool wait = false;
  std::vector<Candidate> pool;
  Origin origin;
};

// Waits until the silent ones are gone for good, then takes the highest step that any live replica or checkpoint has,
// else the initial state. `survivors` are members that have stopped. A cold start is the same with nobody before.
Fallback FromAnywhere(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> survivors);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FALLBACK_H_
