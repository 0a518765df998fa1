// Coordinators by name, as a user keeps them.
#ifndef REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_
#define REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc.h"

namespace rekindle::cli {

struct NamedCoordinator {
  std::string endpoint;
  common::Security security;  // Absolute paths; the files stay where they are.
};

struct Contexts {
  std::string current;  // Empty: none.
  std::map<std::string, NamedCoordinator> contexts;
};

// $XDG_CONFIG_HOME/rekindle/contexts.yaml, else ~/.config/rekindle/contexts.yaml. Empty: there is no home folder.
std::string ContextsPath();

// A file that is not there has none. INVALID_ARGUMENT names file, line and field.
absl::StatusOr<Contexts> ReadContexts(const std::string& path);

// All or nothing, with mode 0600, in a folder that is made for its owner alone.
absl::Status WriteContexts(const std::string& path, const Contexts& contexts);

// NOT_FOUND lists those that there are, and the nearest name.
absl::StatusOr<NamedCoordinator> FindContext(const Contexts& contexts, const std::string& name);

// Letters, digits, '.', '_' and '-', at most 63.
bool IsContextName(const std::string& name);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_CONTEXT_FILE_H_
