// Finds the names that completion offers beside verbs and flags.
#ifndef REKINDLE_CLI_HELP_LIVE_NAMES_H_
#define REKINDLE_CLI_HELP_LIVE_NAMES_H_

#include <string>
#include <vector>

#include "cli/help/completion.h"

namespace rekindle::cli {

// Returns the names of a kind, such as jobs. Contexts come from their file, and all others from the coordinator that
// the flags in `given` lead to. The coordinator has 200 ms to answer, so that the user does not wait after pressing a
// key. If it takes longer, and after any error, there are no names.
std::vector<std::string> LiveNames(Names names, const GivenFlags& given);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_LIVE_NAMES_H_
