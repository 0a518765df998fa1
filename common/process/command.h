// Runs a program to its end, with limits on its time and output.
#ifndef REKINDLE_COMMON_PROCESS_COMMAND_H_
#define REKINDLE_COMMON_PROCESS_COMMAND_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::common {

struct CommandOptions {
  // argv[0] is the path of the program. PATH is not searched.
  std::vector<std::string> argv;
  // `environment` is the whole environment, with entries "NAME=value".
  std::vector<std::string> environment;
  // After `limit_seconds` the program and everything in its process group are killed.
  double limit_seconds = 10;
  // Output beyond `max_bytes` is lost, and a program that writes more is ended.
  size_t max_bytes = 4096;
  // If `keep_stderr` is set, the program's stderr is that of this process. Otherwise it is a part of the output.
  bool keep_stderr = false;
  // If `confine` is set, it says how the program is confined (SpawnOptions::confine).
  std::function<void(SpawnOptions* spawn)> confine;
};

struct CommandResult {
  ExitStatus status;
  std::string output;
};

// Returns the environment of this process.
std::vector<std::string> OwnEnvironment();

// Runs the command and returns how it ended and what it wrote. DEADLINE_EXCEEDED says that the command did not end in
// time. Processes that it leaves in its process group are killed. The command does not outlive the calling thread, and
// its input is empty. The call blocks and is thread-safe.
absl::StatusOr<CommandResult> RunToEnd(const CommandOptions& options);
// Runs a command that has to end with 0, and returns what it wrote. UNAVAILABLE says that it ended with something else.
absl::StatusOr<std::string> RunCommand(const CommandOptions& options);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_COMMAND_H_
