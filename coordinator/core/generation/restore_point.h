// Chooses the checkpoint from which the next generation restores, when no living trainer holds state of as high a step.
//
// A damaged checkpoint and a missing one are two cases. A checkpoint is damaged when the store answers, and every
// trainer that could restore it read bytes that are not what their names say. Then the next older one that verifies
// counts. A checkpoint that is not there, or cannot be read, is waited for: its store may not be mounted, and nothing
// older may take its place.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_RESTORE_POINT_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_RESTORE_POINT_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

struct RestorePoint {
  // `waits_for` says why no state can be restored now. It is empty where the candidates in `pool` can restore the state
  // that `origin` names.
  std::string waits_for;
  Origin origin;
  // `pool` holds the candidates that can restore the state that `origin` names.
  std::vector<Candidate> pool;
};

// Tells trainers which checkpoint to look for (`Forming::find`), and looks at what they have found. May give up a
// damaged checkpoint.
RestorePoint ChooseRestorePoint(Turn& turn, Job& job, const std::vector<Candidate>& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_RESTORE_POINT_H_
