// Reads what a job's checkpoint store says of the job (job_json.h). It may be newer than what a coordinator knows whose
// records were brought back from a copy.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_

#include <string>

#include "coordinator/core/state/core_state.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

// Returns why that file does not come from this coordinator's past. Returns an empty string where it does.
std::string WhyForeign(const State& state, const v1::JobFile& file);

// Ends the job as it had ended, where the file says that the job is over. `text` is what a trainer found in the store,
// and is empty where it found no file. Returns whether the job was ended.
bool EndAsStored(Turn& turn, Job& job, const std::string& text);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_
