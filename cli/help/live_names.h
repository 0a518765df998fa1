// The names that completion offers beside verbs and flags.
#ifndef REKINDLE_CLI_HELP_LIVE_NAMES_H_
#define REKINDLE_CLI_HELP_LIVE_NAMES_H_

#include <string>
#include <vector>

#include "cli/help/completion.h"

namespace rekindle::cli {

// Contexts from their file; all else is asked of the coordinator that `given` leads to. It has 200 ms to answer, so
// that nobody waits for a key that was pressed; else, and after any error, there are none.
std::vector<std::string> LiveNames(Names names, const GivenFlags& given);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_LIVE_NAMES_H_
