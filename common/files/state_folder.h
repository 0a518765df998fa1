// Marks the folders in which Rekindle keeps its own state: secrets of jobs, tokens and copies of data. The mark is a
// file in the folder. A process that opens files for a job recognizes these folders by it, wherever an operator has put
// them.
#ifndef REKINDLE_COMMON_FILES_STATE_FOLDER_H_
#define REKINDLE_COMMON_FILES_STATE_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// Marks a folder as one in which Rekindle keeps its own state. Returns OK if the folder was marked before. If the file
// system returns an error, the folder is not marked.
absl::Status MarkStateFolder(const std::string& folder);
// Returns whether the user of this process has marked the folder as one in which Rekindle keeps its own state. It is
// thread-safe.
bool IsStateFolder(const std::string& folder);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_STATE_FOLDER_H_
