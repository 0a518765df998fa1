// Runs the program rekindle-checkpoint. The file system of its file:// stores is passed in, so that tests can inject
// faults (faulty_main.cc).
#ifndef REKINDLE_CHECKPOINT_SERVICE_SERVICE_MAIN_H_
#define REKINDLE_CHECKPOINT_SERVICE_SERVICE_MAIN_H_

#include <functional>
#include <string>

#include "common/files/file.h"

namespace rekindle::checkpoint {

// Returns the file system that file:// stores use: `files`, which is the machine's own, or a wrapper around it. The
// result must live as long as the process.
using WrapFiles = std::function<common::FileSystem&(common::FileSystem& files)>;

// Runs the checkpoint service until SIGTERM or SIGINT, and returns the program's exit code. `version` is what --version
// prints.
int ServiceMain(int argc, char** argv, const std::string& version, const WrapFiles& wrap);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_SERVICE_MAIN_H_
