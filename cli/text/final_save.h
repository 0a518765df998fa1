// Describes the save of a job's final state.
#ifndef REKINDLE_CLI_TEXT_FINAL_SAVE_H_
#define REKINDLE_CLI_TEXT_FINAL_SAVE_H_

#include <string>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Returns lines that `rekindle get` prints: since when the final state waits to be saved, what that costs, and why.
// REQUIRES: the final state waits to be saved.
std::string DescribeFinalSave(const v1::JobStatus& status);

// Warns on stderr if a submitted job saves no checkpoints in a store, so that nothing of it is kept when it ends.
void WarnIfNothingIsKept(const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_FINAL_SAVE_H_
