// Reads and writes the small files of a node's folder. What they record matters to the next agent process, but not
// after a reboot. So the files are replaced atomically but not synced: a disk that is busy with a checkpoint must not
// delay the report of a trainer's exit.
#ifndef REKINDLE_WORKER_AGENT_FOLDER_SMALL_FILE_H_
#define REKINDLE_WORKER_AGENT_FOLDER_SMALL_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::agent {

// Writes a file with mode 0600 in place of the one at `path`, if there is one. Readers see either the whole new content
// or the whole earlier content. REQUIRES: a path has one writer at a time.
absl::Status ReplaceFile(const std::string& path, const std::string& content);
// Reads a whole file. Returns RESOURCE_EXHAUSTED if the file is larger than `limit` bytes, and NOT_FOUND if there is
// none.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t limit);
// Returns the sorted names of the files in a folder, without the unfinished files of ReplaceFile. Returns none if the
// folder cannot be read.
std::vector<std::string> ListFolder(const std::string& path);
// Removes a file. Does nothing if there is no such file.
void RemoveFile(const std::string& path);

// Returns whether the name may be one component of a path. It must have 1 to `longest` letters, digits, '.', '_' or
// '-', and no leading '.'.
bool IsSafeName(const std::string& name, size_t longest);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FOLDER_SMALL_FILE_H_
