#include "cli/checkpoint/checkpoint_verbs.h"

namespace rekindle::cli {

void AddCheckpointVerbs(CLI::App& app, Context& context) {
  CLI::App* parent = app.add_subcommand("checkpoint", "Look at, keep, move and exchange a job's checkpoints");
  parent->require_subcommand(1);
  parent->fallthrough();
  AddCheckpointLookVerbs(*parent, context);
  AddCheckpointKeepVerbs(*parent, context);
  AddCheckpointWeightVerbs(*parent, context);
}

}  // namespace rekindle::cli
