// Runs a program to its end, with limits on its time and output.
#ifndef REKINDLE_COMMON_COMMAND_H_
#define REKINDLE_COMMON_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct CommandOptions {
  std::vector<std::string> argv;         // argv[0] is the path of the program; no search in PATH.
  std::vector<std::string> environment;  // "NAME=value"; all of it.
  double limit_seconds = 10;             // Then it is killed, with all that is in its process group.
  size_t max_bytes = 4096;               // What it writes beyond is lost, and writing more ends it.
};

// This process's own environment.
std::vector<std::string> OwnEnvironment();

// What it wrote to stdout and stderr. DEADLINE_EXCEEDED: it did not end in time. UNAVAILABLE: it ended with something
// else than 0. It does not outlive the calling thread. Blocks; thread-safe.
absl::StatusOr<std::string> RunCommand(const CommandOptions& options);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_COMMAND_H_
