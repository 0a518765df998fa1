// Adds the verbs help and completion, with which the command describes itself.
#ifndef REKINDLE_CLI_HELP_HELP_VERBS_H_
#define REKINDLE_CLI_HELP_HELP_VERBS_H_

#include <CLI/CLI.hpp>

#include "cli/help/man_page.h"
#include "cli/shared/context.h"

namespace rekindle::cli {

// Adds the verbs help and completion. They describe all verbs of `app`, also those that are added later.
void AddHelpVerbs(CLI::App& app, Context& context, const ManFacts& facts);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_HELP_VERBS_H_
