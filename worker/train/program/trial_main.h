// Runs rekindle-trainer as a trial of one micro-batch size, which another rekindle-trainer has started.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_

#include "worker/train/program/job_runtime.h"
#include "worker/train/program/trainer_flags.h"

namespace rekindle::train {

// Tries the micro-batch size `flags.try_micro_batch`, and writes the outcome of the trial to the file `flags.result`.
// Returns the exit code of the process.
int TryMicroBatch(const Flags& flags, JobRuntime& runtime);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_
