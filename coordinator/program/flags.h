// Declares the flags of rekindle-coordinator.
#ifndef REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_
#define REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "coordinator/server/assembly/coordinator_server.h"

namespace rekindle::coordinator {

struct Flags {
  CoordinatorServer::Options options;
  // `web` is the host:port of the web page, or empty for no web page.
  std::string web;
  // An empty `log_format` means the format that the environment names.
  std::string log_format;
  int state_gib = 4;
};

// Returns the defaults of the flags, replaced by what variables of the environment say.
Flags FlagsFromEnvironment();

// Adds the coordinator's flags to `app`, which stores their values in `flags`. `flags` must outlive `app`.
void AddFlags(CLI::App& app, Flags& flags);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_
