// Says what the kinds of faults are. Records, events and statuses keep their words.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_

#include <string>
#include <string_view>

namespace rekindle::core {

enum class FaultKind {
  // No fault has an empty word.
  kNone,
  // Another release may have written the word.
  kOther,
  kTrainerKilled,
  kTrainerFrozen,
  kNodeKilled,
  kAllKilled,
  // The member was asked to leave.
  kDrained,
  // The member was kept out because it could not work with the others.
  kExcluded,
  kNodeAdded,
  kAgentKilled,
  kCheckpointKilled,
  kCoordinatorKilled,
};

FaultKind FaultKindOf(std::string_view word);
// Returns the word, which is empty for `kNone` and `kOther`.
std::string WordOf(FaultKind kind);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_
