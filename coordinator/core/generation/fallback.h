// Forms a generation as the last resort, when nobody of the newest generation holds its state.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FALLBACK_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FALLBACK_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

struct Fallback {
  bool wait = false;
  std::vector<Candidate> pool;
  Origin origin;
};

// Waits until the silent members are gone for good. Then the generation begins at the highest step that any live
// replica or checkpoint has, or else at the initial state. `survivors` are members that have stopped. A job without an
// earlier generation (a cold start) begins in the same way.
Fallback FromAnywhere(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> survivors);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FALLBACK_H_
