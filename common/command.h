// Runs a program to its end, with limits on its time and output.
#ifndef REKINDLE_COMMON_COMMAND_H_
#define REKINDLE_COMMON_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::common {

struct CommandOptions {
  std::vector<std::string> argv;         // argv[0] is the path of the program; no search in PATH.
  std::vector<std::string> environment;  // "NAME=value"; all of it.
  double limit_seconds = 10;             // Then it is killed, with all that is in its process group.
  size_t max_bytes = 4096;               // What it writes beyond is lost, and writing more ends it.
  bool keep_stderr = false;              // Its errors go where ours go. Else they are a part of what it wrote.
};

struct CommandResult {
  ExitStatus status;
  std::string output;
};

// This process's own environment.
std::vector<std::string> OwnEnvironment();

// How it ended and what it wrote. DEADLINE_EXCEEDED: it did not end in time. What it leaves running in its process
// group is killed; it does not outlive the calling thread. Its input is empty. Blocks; thread-safe.
absl::StatusOr<CommandResult> RunToEnd(const CommandOptions& options);
// The same, of a program that is to end with 0: what it wrote. UNAVAILABLE: it ended with something else.
absl::StatusOr<std::string> RunCommand(const CommandOptions& options);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_COMMAND_H_
