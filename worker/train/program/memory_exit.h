// Ends a trainer that runs out of memory where nobody can catch the error.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_

namespace rekindle::train {

// Makes an uncaught lack of memory on any thread end the process with `common::kExitOutOfMemory`. By this code the
// agent knows why the process ended. A step that lacks memory catches the error itself, but a thread of a library may
// be the one that asks for the last bytes.
void ExitWhereMemoryRunsOut();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_MEMORY_EXIT_H_
