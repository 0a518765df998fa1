// Names of the users and groups of this machine.
#ifndef REKINDLE_COMMON_USERS_H_
#define REKINDLE_COMMON_USERS_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// The user's name; "uid 1000" where there is none. Thread-safe.
std::string UserName(uid_t user);

// The group of that name, which this process may give files to. INVALID_ARGUMENT: there is none, or this process is not
// in it. Thread-safe.
absl::StatusOr<gid_t> FindGroup(const std::string& name);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_USERS_H_
