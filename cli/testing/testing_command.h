// Builds the whole command `rekindle` for tests, as main.cc does.
#ifndef REKINDLE_CLI_TESTING_TESTING_COMMAND_H_
#define REKINDLE_CLI_TESTING_TESTING_COMMAND_H_

#include <CLI/CLI.hpp>

#include "cli/program/command_verbs.h"

namespace rekindle::cli {

struct Command {
  Command() { AddVerbs(app, context, "rekindle 0.1.0 (commit unknown, protocol 4)", {"0.1.0", "2026-01-31"}); }

  Context context;
  CLI::App app;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TESTING_TESTING_COMMAND_H_
