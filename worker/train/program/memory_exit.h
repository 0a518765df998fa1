// Ends a trainer that runs out of memory where nobody can catch the error.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_

namespace rekindle::train {

// Makes the process end with `common::kExitOutOfMemory` when memory runs out on a thread that does not catch the error.
// By this exit code the agent knows why the process ended. A training step catches the error itself, but memory may
// also run out on a thread of a library.
void ExitWhereMemoryRunsOut();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_
