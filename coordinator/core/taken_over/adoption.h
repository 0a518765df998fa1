// Takes over trainers that live in a generation above the record's. The record was brought back from a copy and is
// older than what runs. Their membership is taken over instead of being fought.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Takes over the highest membership that trainers report, if all that are heard in it agree. Its members keep their
// slots before anybody else. Otherwise the status says what is awaited. REQUIRES: IsBehind(job) is true.
void ConsiderAdoption(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_
