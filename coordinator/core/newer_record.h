// What a trainer was told of its job's record last (the job's file, job_file.h) may be newer than the record, where
// that was brought back from a copy or where there was none: spent money, the budget, counters and curves.
#ifndef REKINDLE_COORDINATOR_CORE_NEWER_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_NEWER_RECORD_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// Takes it from the trainers that are ahead of the record, where any has such a file that is the job's and newer. What
// only this cluster knows of the job stays: its secret, and the members that it had.
void TakeNewerRecord(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NEWER_RECORD_H_
