// Runs the command once: it parses the command line, runs the verb, and checks that the output was written.
#ifndef REKINDLE_CLI_PROGRAM_RUN_H_
#define REKINDLE_CLI_PROGRAM_RUN_H_

#include <CLI/CLI.hpp>

#include "cli/shared/context.h"

namespace rekindle::cli {

// Returns the exit code of the command. If output could not be written (a full disk), it is the code of an error, even
// if the verb has succeeded.
int Run(CLI::App& app, Context& context, int argc, const char* const* argv);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_PROGRAM_RUN_H_
