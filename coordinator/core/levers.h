// What cost levers did and saved, as the trainers tell it.
#ifndef REKINDLE_COORDINATOR_CORE_LEVERS_H_
#define REKINDLE_COORDINATOR_CORE_LEVERS_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// Keeps the newest of each, by name, and tells it in an event; one of ranges at once or later (flapping.h).
void RememberLever(Turn& turn, Job& job, const v1::LeverStatus& lever, const std::string& node);

// Of a current member. All members have done the same; what is newer than the status becomes the status and an event.
void TakeLevers(Turn& turn, Job& job, const v1::TrainerReport& report);

// The smoke test has passed when its worker has completed two steps; the others may come then.
void TakeSmokeTest(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_LEVERS_H_
