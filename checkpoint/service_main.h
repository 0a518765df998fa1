// The program rekindle-checkpoint, but for what its file:// stores stand on, which tests spoil (faulty_main.cc).
#ifndef REKINDLE_CHECKPOINT_SERVICE_MAIN_H_
#define REKINDLE_CHECKPOINT_SERVICE_MAIN_H_

#include "common/file.h"

namespace rekindle::checkpoint {

// Serves until SIGTERM or SIGINT; the exit code. `files` must outlive the process's threads.
int ServiceMain(int argc, char** argv, common::FileSystem& files);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_MAIN_H_
