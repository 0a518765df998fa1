// Names the state of a job, and the unit in which its data are counted: tokens or samples.
#ifndef REKINDLE_CLI_TEXT_JOB_TEXT_H_
#define REKINDLE_CLI_TEXT_JOB_TEXT_H_

#include <string>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Returns the name of the state of a job, such as "RUNNING".
std::string StateName(v1::JobState state);
// Returns whether the state of a job is final.
bool Ended(v1::JobState state);
// Returns what the job's data and speed are counted in: "token" or "sample".
std::string UnitOf(const v1::JobSpec& spec);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_JOB_TEXT_H_
