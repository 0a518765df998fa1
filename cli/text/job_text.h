// Puts parts of a job's status into words: its state, the unit in which its data are counted, and what failed in its
// own code.
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
// Returns the lines of the user's own code that have failed the job, with a heading, for a terminal. Returns an empty
// text if there are none.
std::string TracebackText(const v1::JobStatus& status);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_JOB_TEXT_H_
