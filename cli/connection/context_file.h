// Reads and writes the coordinators that a user keeps by name.
#ifndef REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_
#define REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/security.h"

namespace rekindle::cli {

struct NamedCoordinator {
  std::string endpoint;
  // The paths in `security` are absolute. A context stores only the paths of the TLS files and the token, no copies.
  common::Security security;
};

struct Contexts {
  // `current` is the name of the context in use. It is empty if there is none.
  std::string current;
  std::map<std::string, NamedCoordinator> contexts;
};

// Returns $XDG_CONFIG_HOME/rekindle/contexts.yaml, or ~/.config/rekindle/contexts.yaml if that is not set. Returns an
// empty path if there is no home folder.
std::string ContextsPath();

// Reads the contexts from the file at `path`. If there is no file, there are no contexts. INVALID_ARGUMENT names file,
// line and field.
absl::StatusOr<Contexts> ReadContexts(const std::string& path);

// Writes the contexts all or nothing, with mode 0600, in a folder that is created for its owner alone.
absl::Status WriteContexts(const std::string& path, const Contexts& contexts);

// Returns the context named `name`. NOT_FOUND lists those that exist, and the nearest name.
absl::StatusOr<NamedCoordinator> FindContext(const Contexts& contexts, const std::string& name);

// Returns whether the name consists of at most 63 letters, digits, '.', '_' and '-'.
bool IsContextName(const std::string& name);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_
