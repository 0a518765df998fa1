// Says what is left to do with a coordinator's data folder that was created again.
#ifndef REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_
#define REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_

#include <string>

namespace rekindle::cli {

// Returns the lines to print after `data` was written.
inline std::string HowToStartOn(const std::string& data) {
  return "next: give the folder to the coordinator's user (chown -R), and start the coordinator on it, with the flags "
         "and at the address that it had:\n  rekindle-coordinator --data " +
         data + " ...\n";
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_
