// Limits which files a process can reach, by Landlock of the kernel (landlock(7)). A process that has entered a ruleset
// cannot leave it, and neither can its descendants. The calls are made directly, because the C library has none.
#ifndef REKINDLE_WORKER_USER_CODE_LANDLOCK_H_
#define REKINDLE_WORKER_USER_CODE_LANDLOCK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"

namespace rekindle::user_code {

// Lists files and folders. A folder stands for all that is in it. What does not exist is passed over, and what is not
// listed cannot be reached.
struct FileRules {
  // What is in `readable` can be read and executed, and what is in `writable` also be made, changed and removed. Files
  // in `fillable` can be read and written to, but none can be made or removed there.
  std::vector<std::string> readable, writable, fillable;
  // What is in `programs` can be read and executed, like what is in `readable`, but a path that is itself a link stands
  // for nothing. A job may choose these paths, and a link could make them lead anywhere.
  std::vector<std::string> programs;
};

// Returns the version of Landlock that the running kernel has, or 0 if it has none.
int LandlockVersion();

// Makes a ruleset that allows what `rules` lists. Where the kernel can, a process in it also signals no process outside
// of it, and connects to no abstract Unix socket there. Returns UNAVAILABLE if the kernel has no Landlock.
absl::StatusOr<common::UniqueFd> MakeRuleset(const FileRules& rules);

// Has this process enter a ruleset. Returns whether it has. It is async-signal-safe. REQUIRES: the process can get no
// new privileges (PR_SET_NO_NEW_PRIVS), or may administer the machine.
bool EnterRuleset(int ruleset);

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_LANDLOCK_H_
