// Adds all verbs of the command `rekindle`.
#ifndef REKINDLE_CLI_PROGRAM_COMMAND_VERBS_H_
#define REKINDLE_CLI_PROGRAM_COMMAND_VERBS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "cli/help/man_page.h"
#include "cli/shared/context.h"

namespace rekindle::cli {

// Builds the command `rekindle` into `app`, which must be new. `context` must outlive `app`. `version_line` is the text
// that --version prints.
void AddVerbs(CLI::App& app, Context& context, const std::string& version_line, const ManFacts& facts);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_PROGRAM_COMMAND_VERBS_H_
