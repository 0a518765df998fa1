// The verbs below `rekindle checkpoint`, a file a group.
#ifndef REKINDLE_CLI_CHECKPOINT_VERBS_H_
#define REKINDLE_CLI_CHECKPOINT_VERBS_H_

#include "cli/context.h"

namespace rekindle::cli {

void AddCheckpointLookVerbs(CLI::App& parent, Context& context);    // ls, show, verify
void AddCheckpointKeepVerbs(CLI::App& parent, Context& context);    // pin, unpin, rm, gc, archive
void AddCheckpointWeightVerbs(CLI::App& parent, Context& context);  // export, import

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CHECKPOINT_VERBS_H_
