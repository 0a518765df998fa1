// Loads this project's own shared libraries beside the programs, each when it is first needed. So only processes that
// use a plugin have the cost of what it links. A plugin is a struct of functions under a known symbol. It and the
// program are built together, so they share C++ types, and a version detects a plugin of another build.
#ifndef REKINDLE_COMMON_PROCESS_PLUGIN_H_
#define REKINDLE_COMMON_PROCESS_PLUGIN_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Returns the path of `file` beside the running program.
std::string PluginPath(const std::string& file);

// Returns the address of `symbol`, whose first member must be the int `version`. The plugin stays loaded until the
// process ends. UNIMPLEMENTED says that there is no such file, as in a build that left it out. Its message is
// `without`, which says what cannot be done and what to do. FAILED_PRECONDITION says that it cannot be loaded or is of
// another version. It is thread-safe.
absl::StatusOr<const void*> LoadPlugin(const std::string& path, const char* symbol, int version,
                                       const std::string& without);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_PLUGIN_H_
