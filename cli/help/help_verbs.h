// help, completion: what the command says of itself.
#ifndef REKINDLE_CLI_HELP_HELP_VERBS_H_
#define REKINDLE_CLI_HELP_HELP_VERBS_H_

#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "cli/help/man_page.h"

namespace rekindle::cli {

// Adds both verbs. They tell of all verbs of `app`, also of those that are added later.
void AddHelpVerbs(CLI::App& app, Context& context, const ManFacts& facts);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_HELP_VERBS_H_
