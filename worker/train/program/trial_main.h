// Runs rekindle-trainer as a trial of one micro-batch size, which another rekindle-trainer has started.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_

#include "worker/train/program/trainer_flags.h"

namespace rekindle::train {

// Tries `flags.try_micro_batch` and writes the outcome to `flags.result`. Returns the exit code.
int TryMicroBatch(const Flags& flags);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_TRIAL_MAIN_H_
