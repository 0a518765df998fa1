// The end of a trainer that is out of memory where nobody can catch it.
#ifndef REKINDLE_WORKER_TRAIN_MEMORY_EXIT_H_
#define REKINDLE_WORKER_TRAIN_MEMORY_EXIT_H_

namespace rekindle::train {

// From now on a lack of memory that nobody catches, on whichever thread, ends the process with
// common::kExitOutOfMemory, by which its agent knows what it died of. A step that lacks memory is caught where it
// computes; but a thread of a library may be the one that asks for the last bytes.
void ExitWhereMemoryRunsOut();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MEMORY_EXIT_H_
