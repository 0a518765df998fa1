// The folder of the user that this process runs as.
#ifndef REKINDLE_COMMON_HOME_FOLDER_H_
#define REKINDLE_COMMON_HOME_FOLDER_H_

#include <string>

namespace rekindle::common {

// $HOME where it is absolute, else what the user database says; empty where neither names a folder. Thread-safe.
std::string HomeFolder();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_HOME_FOLDER_H_
