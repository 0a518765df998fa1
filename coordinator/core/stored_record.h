// What a job's checkpoint store says of the job (job_file.h) may be newer than what a coordinator knows that was
// brought back from a copy.
#ifndef REKINDLE_COORDINATOR_CORE_STORED_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_STORED_RECORD_H_

#include <string>

#include "coordinator/core/state.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

// Why that file is none of this coordinator's past. Empty: it is.
std::string WhyForeign(const State& state, const v1::JobFile& file);

// A trainer that looked into the store brings that file (empty: there is none). Where it says that the job is over, the
// job ends as it had ended. False: it does not say so.
bool EndAsStored(Turn& turn, Job& job, const std::string& text);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STORED_RECORD_H_
