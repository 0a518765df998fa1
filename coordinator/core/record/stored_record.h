// Reads what a job's checkpoint store says of the job (job_json.h). The file in the store may be newer than the record
// of a coordinator whose records were brought back from a copy.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_

#include <string>

#include "coordinator/core/state/core_state.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

// Returns why the job's file is foreign: it is another cluster's, or from a later epoch of this one. Returns an empty
// string where it is not foreign.
std::string WhyForeign(const State& state, const v1::JobFile& file);

// Ends the job where its file in the store says that it is over, in the way that the file says. `text` is the file that
// a trainer found in the store, and is empty where it found none. Returns whether the job was ended.
bool EndAsStored(Turn& turn, Job& job, const std::string& text);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_STORED_RECORD_H_
