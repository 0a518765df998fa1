// Defines the kinds of faults. Records, events and statuses hold the word of a kind, such as "drained".
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_

#include <string>
#include <string_view>

namespace rekindle::core {

enum class FaultKind {
  // Stands for an empty text, which means that there is no fault.
  kNone,
  // Stands for an unknown word, which another release may have written.
  kOther,
  kTrainerKilled,
  kTrainerFrozen,
  kNodeKilled,
  kAllKilled,
  // Stands for a member that left because it was asked to.
  kDrained,
  // Stands for a member that was kept out because it could not work with the others.
  kExcluded,
  kNodeAdded,
  kAgentKilled,
  kCheckpointKilled,
  kCoordinatorKilled,
};

FaultKind FaultKindOf(std::string_view word);
// Returns the word of a kind. It is empty for `kNone` and `kOther`.
std::string WordOf(FaultKind kind);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FAULT_KIND_H_
