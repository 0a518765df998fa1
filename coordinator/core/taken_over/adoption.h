// Takes over trainers that live in a generation above the record's, because the record was brought back from a copy and
// is older than what runs. The coordinator keeps their membership and does not end it.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Takes over the highest membership that the job's trainers report, if all of its members that are heard of agree. They
// get their slots back before any other job gets them. Otherwise the status says what is awaited. REQUIRES:
// IsBehind(job) is true.
void ConsiderAdoption(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_ADOPTION_H_
