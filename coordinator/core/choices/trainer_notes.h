// Records what the cost levers of a job (docs/levers.md) did and saved, as the trainers report it.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_TRAINER_NOTES_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_TRAINER_NOTES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Keeps the newest note of each cost lever, by the lever's name, and emits it as an event. An event about new ranges of
// micro-batches may be held back for a while (see flapping.h).
void RememberNote(Turn& turn, Job& job, const v1::LeverStatus& lever, const std::string& node);

// Takes the notes on cost levers that a current member reports. All members report the same notes, so only a note that
// is newer than the one in the status goes into the status and an event.
void TakeNotes(Turn& turn, Job& job, const v1::TrainerReport& report);

// Records that the smoke test has passed once its worker has completed two steps. The other workers may start then.
void TakeSmokeTest(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_TRAINER_NOTES_H_
