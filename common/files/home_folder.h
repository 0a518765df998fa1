// Finds the home folder of the user of this process.
#ifndef REKINDLE_COMMON_FILES_HOME_FOLDER_H_
#define REKINDLE_COMMON_FILES_HOME_FOLDER_H_

#include <string>

namespace rekindle::common {

// Returns $HOME if it is absolute, and otherwise the folder in the user database. It is empty if neither names a
// folder. It is thread-safe.
std::string HomeFolder();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_HOME_FOLDER_H_
