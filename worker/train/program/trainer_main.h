// Runs a trainer: one rank of one job on one device. The agent starts it. It survives the agent, the coordinator and
// the checkpoint service.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_MAIN_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_MAIN_H_

#include "worker/train/program/job_runtime.h"

namespace rekindle::train {

// Returns the exit code of the process.
int RunTrainer(int argc, char** argv, JobRuntime& runtime);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_MAIN_H_
