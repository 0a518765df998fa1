// Tells the user how to start a coordinator on a data folder that `restore` or `recover` has just written.
#ifndef REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_
#define REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_

#include <string>

namespace rekindle::cli {

// Returns lines for the user: how to start a coordinator on the folder `data`, which was just written.
inline std::string HowToStartOn(const std::string& data) {
  return "next: give the folder to the coordinator's user (chown -R), and start the coordinator on it, with the flags "
         "and at the address that it had:\n  rekindle-coordinator --data " +
         data + " ...\n";
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_VERBS_RESTORED_FOLDER_H_
