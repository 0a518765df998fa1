// For tests: the whole command, as main.cc builds it.
#ifndef REKINDLE_CLI_HELP_TESTING_COMMAND_H_
#define REKINDLE_CLI_HELP_TESTING_COMMAND_H_

#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace rekindle::cli {

struct Command {
  Command() { AddVerbs(app, context, "rekindle 0.1.0 (commit unknown, protocol 4)", {"0.1.0", "2026-01-31"}); }

  Context context;
  CLI::App app;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_TESTING_COMMAND_H_
