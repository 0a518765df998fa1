// From which checkpoint the next generation is to restore, when nobody who lives holds as much.
//
// Two cases are told apart. A checkpoint is damaged when the store answers, and every trainer that could restore it
// read bytes that are not what their names say: then the next older one that verifies counts. One that is not there, or
// cannot be read, is waited for: its store may not be mounted, and nothing older may take its place.
#ifndef REKINDLE_COORDINATOR_CORE_RESTORE_POINT_H_
#define REKINDLE_COORDINATOR_CORE_RESTORE_POINT_H_

#include <string>
#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

struct RestorePoint {
  std::string waits_for;  // Not empty: nothing can be restored now, and why.
  Origin origin;
  std::vector<Candidate> pool;  // Those of the candidates that can restore it.
};

// Tells trainers what to look for (Forming::find), and looks at what they have found. May give up a damaged checkpoint.
RestorePoint ChooseRestorePoint(Turn& turn, Job& job, const std::vector<Candidate>& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RESTORE_POINT_H_
