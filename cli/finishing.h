// What the end of a job keeps, in words.
#ifndef REKINDLE_CLI_FINISHING_H_
#define REKINDLE_CLI_FINISHING_H_

#include <string>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Lines for `get`: since when the final state waits to be saved, what that costs, and why. REQUIRES: it does.
std::string DescribeFinishing(const v1::JobStatus& status);

// On stderr, of a job that was submitted and takes no checkpoints.
void WarnIfNothingIsKept(const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_FINISHING_H_
