// Formats the lines of a job's log for people.
#ifndef REKINDLE_CLI_TEXT_LOG_TEXT_H_
#define REKINDLE_CLI_TEXT_LOG_TEXT_H_

#include <string>

#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::cli {

// Returns a line of a log as "n1/0/1a2b3c4d: text". If lines are missing, returns "... " and what is missing. `now` is
// in Unix seconds.
std::string LogText(const v1::LogLine& line, double now);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_LOG_TEXT_H_
