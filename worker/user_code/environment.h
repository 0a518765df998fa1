// Builds the environment of code of users from nothing.
#ifndef REKINDLE_WORKER_USER_CODE_ENVIRONMENT_H_
#define REKINDLE_WORKER_USER_CODE_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::user_code {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// The file in a node's folder that has the values for `env_from` of jobs.
inline constexpr char kValuesFile[] = "env_from";

// Returns OK, or why a job must not take a variable of this name from a node: it is no name, or it decides about what
// runs or about the result.
absl::Status CheckName(const std::string& name);

// Reads values from a file with lines of the form NAME=VALUE. Empty lines and those that begin with # are passed over.
// Returns PERMISSION_DENIED if others than this user may read or write the file, and NOT_FOUND if `names` has one
// without a value. An error never has a value in it. If `names` is empty, the file need not exist.
absl::StatusOr<NamedValues> ReadValues(const std::string& path, const std::vector<std::string>& names);

struct EnvironmentOptions {
  // The program's folder comes first in PATH.
  std::string interpreter;
  // `home` is HOME, and temporary files and caches go to `scratch`.
  std::string home, scratch;
  // `own` is the environment of this process ("NAME=value"). Few variables that locate things are taken from it.
  std::vector<std::string> own;
  // `pinned` decides about the bits of results, and nothing has precedence over it.
  NamedValues pinned;
  NamedValues from_node;
};

// Returns the whole environment, with entries "NAME=value", sorted by name.
std::vector<std::string> CodeEnvironment(const EnvironmentOptions& options);

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_ENVIRONMENT_H_
