// Checks the files that a job names, where coordinator and trainers see the same disk (one machine).
#ifndef REKINDLE_COORDINATOR_JOB_FILES_H_
#define REKINDLE_COORDINATOR_JOB_FILES_H_

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Of a resolved spec. INVALID_ARGUMENT names the field, the file and the fix: a data file or glob that is missing,
// unreadable, no regular file, empty or of no whole records; too little data for one sample; a store that cannot be
// written. Leaves nothing behind (a probe file is created in the store's nearest folder and removed).
absl::Status CheckJobFiles(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_JOB_FILES_H_
