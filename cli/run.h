// One run of the command: parses its command line, runs the verb, and sees to it that what was printed has arrived.
#ifndef REKINDLE_CLI_RUN_H_
#define REKINDLE_CLI_RUN_H_

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace rekindle::cli {

// The exit code. Output that could not be written (a full disk) is an error, whatever the verb has done.
int Run(CLI::App& app, Context& context, int argc, const char* const* argv);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_RUN_H_
