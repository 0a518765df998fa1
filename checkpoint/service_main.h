// The program rekindle-checkpoint, but for what its file:// stores stand on, which tests spoil (faulty_main.cc).
#ifndef REKINDLE_CHECKPOINT_SERVICE_MAIN_H_
#define REKINDLE_CHECKPOINT_SERVICE_MAIN_H_

#include <functional>
#include <string>

#include "common/file.h"

namespace rekindle::checkpoint {

// What file:// stores stand on, of the machine's own files. It lives as long as the process.
using WrapFiles = std::function<common::FileSystem&(common::FileSystem& files)>;

// Serves until SIGTERM or SIGINT; the exit code. `version` is what --version prints.
int ServiceMain(int argc, char** argv, const std::string& version, const WrapFiles& wrap);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_MAIN_H_
