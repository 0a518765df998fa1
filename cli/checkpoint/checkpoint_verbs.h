// Adds the verbs below `rekindle checkpoint`. Each group of verbs has a file of its own.
#ifndef REKINDLE_CLI_CHECKPOINT_CHECKPOINT_VERBS_H_
#define REKINDLE_CLI_CHECKPOINT_CHECKPOINT_VERBS_H_

#include "cli/shared/context.h"

namespace rekindle::cli {

// AddCheckpointLookVerbs adds ls, show and verify. AddCheckpointKeepVerbs adds pin, unpin, rm, gc and archive.
// AddCheckpointWeightVerbs adds export and import.
void AddCheckpointLookVerbs(CLI::App& parent, Context& context);
void AddCheckpointKeepVerbs(CLI::App& parent, Context& context);
void AddCheckpointWeightVerbs(CLI::App& parent, Context& context);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CHECKPOINT_CHECKPOINT_VERBS_H_
