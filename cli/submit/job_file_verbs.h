// Adds the verbs that take job files.
#ifndef REKINDLE_CLI_SUBMIT_JOB_FILE_VERBS_H_
#define REKINDLE_CLI_SUBMIT_JOB_FILE_VERBS_H_

#include <CLI/CLI.hpp>

#include "cli/shared/context.h"

namespace rekindle::cli {

// The functions AddSubmitVerb and AddValidateVerb add their verb to the command.
void AddSubmitVerb(CLI::App& app, Context& context);
void AddValidateVerb(CLI::App& app, Context& context);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_JOB_FILE_VERBS_H_
