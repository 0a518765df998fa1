// Folders that hold what Rekindle itself lives on: secrets of jobs, tokens, copies of data. They say so by a file in
// them, so that whoever opens files for a job knows them, wherever an operator has put them.
#ifndef REKINDLE_COMMON_STATE_FOLDER_H_
#define REKINDLE_COMMON_STATE_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// OK where it was marked before. Errors of the file system: it is not marked.
absl::Status MarkStateFolder(const std::string& folder);
// Whether this process's user has marked it. Thread-safe.
bool IsStateFolder(const std::string& folder);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_STATE_FOLDER_H_
