// The small files of a node's folder: records that matter to the next agent process, not after a reboot. So they are
// replaced atomically, but not synced: a disk busy with a checkpoint must not delay the report of an exit.
#ifndef REKINDLE_WORKER_AGENT_SMALL_FILE_H_
#define REKINDLE_WORKER_AGENT_SMALL_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::agent {

// The whole content is seen or the earlier one. Mode 0600. One writer a path at a time.
absl::Status ReplaceFile(const std::string& path, const std::string& content);
// RESOURCE_EXHAUSTED when larger than `limit` bytes; NOT_FOUND when there is none.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t limit);
// Names in a folder, sorted, without unfinished files of ReplaceFile. Empty when it cannot be read.
std::vector<std::string> ListFolder(const std::string& path);
// Ignores what is not there.
void RemoveFile(const std::string& path);

// Fit to be one component of a path: 1 to `longest` of letters, digits, '.', '_', '-', and no leading '.'.
bool IsSafeName(const std::string& name, size_t longest);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_SMALL_FILE_H_
