// Knows the names of files and folders that are never sent, whatever a .gitignore says: keys, passwords, and the
// history of a repository, which may hold both.
#ifndef REKINDLE_COMMON_BUNDLE_NEVER_SENT_H_
#define REKINDLE_COMMON_BUNDLE_NEVER_SENT_H_

#include <string_view>

namespace rekindle::common {

// Returns whether a file or folder of that name is never sent. `name` has no "/". The case of letters does not matter.
// It is thread-safe.
bool IsNeverSent(std::string_view name);

// Names, as a .gitignore would, what is left out unless a rule of the user keeps it: caches and Python environments.
extern const char kLeftOutByDefault[];

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_NEVER_SENT_H_
