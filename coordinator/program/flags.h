// Declares the flags of rekindle-coordinator.
#ifndef REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_
#define REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "coordinator/server/assembly/coordinator_server.h"

namespace rekindle::coordinator {

struct Flags {
  CoordinatorServer::Options options;
  // `web` is the host:port of the web page, or empty for none.
  std::string web;
  // An empty `log_format` means that of the environment.
  std::string log_format;
  int state_gib = 4;
};

// Returns the defaults, with what variables of the environment say.
Flags FlagsFromEnvironment();

// Lets `app` set `flags`, which must outlive it.
void AddFlags(CLI::App& app, Flags& flags);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_PROGRAM_FLAGS_H_
