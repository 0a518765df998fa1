// Shared libraries of our own beside the programs, each loaded when it is first needed: so nobody else pays for what it
// links. A plugin is a struct of functions under a known symbol; it and the program are built together, so they share
// C++ types, and a version says so when they were not.
#ifndef REKINDLE_COMMON_PLUGIN_H_
#define REKINDLE_COMMON_PLUGIN_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// `file` beside the running program.
std::string PluginPath(const std::string& file);

// The address of `symbol`, whose first member must be the int `version`. Stays loaded until the process ends.
// UNIMPLEMENTED with `without` (what cannot be done, and what to do): no such file, that is a build that left it out.
// FAILED_PRECONDITION: it cannot be loaded, or is of another version. Thread-safe.
absl::StatusOr<const void*> LoadPlugin(const std::string& path, const char* symbol, int version,
                                       const std::string& without);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PLUGIN_H_
