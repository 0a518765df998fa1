// Looks up names of users and groups of this machine.
#ifndef REKINDLE_COMMON_FILES_USERS_H_
#define REKINDLE_COMMON_FILES_USERS_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Returns the name of the user with this id, or a text like "uid 1000" if there is none. It is thread-safe.
std::string UserName(uid_t user);

// Returns the group of the name `name`, to which this process may give files. INVALID_ARGUMENT says that there is no
// such group or that this process is not in it. It is thread-safe.
absl::StatusOr<gid_t> FindGroup(const std::string& name);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_USERS_H_
