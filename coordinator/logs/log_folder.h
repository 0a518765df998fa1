// Names and lists the files of one job's log.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_FOLDER_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_FOLDER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace rekindle::coordinator {

struct LogFile {
  int64_t bytes = 0;
  // `at` is when the newest piece in the file came, in Unix seconds.
  double at = 0;
  // `lines` counts the lines of the log before the file, and is set once the log is loaded.
  int64_t lines = 0;
  // `is_bare` says that the file is known to contain nothing but its head.
  bool is_bare = false;
};
// The key of LogFiles is the number of the file. Files are numbered in the order in which they were begun.
using LogFiles = std::map<int64_t, LogFile>;

// A LogFolder is thread-compatible.
class LogFolder {
 public:
  // `path` is the path of the log's folder, which need not exist.
  explicit LogFolder(std::string path) : path_(std::move(path)) {}

  std::string PathOf(int64_t file) const;

  struct Listed {
    LogFiles files;
    // All files in the folder have numbers below `next_file`.
    int64_t next_file = 1;
  };
  // Lists the log's files with their sizes, without opening them. Files of other names, empty files and what is no
  // plain file are left out.
  Listed List() const;

  // Makes the folder if it is missing. Only its owner may read it.
  absl::Status Make() const;
  // Removes a file. A file that is gone already is no error.
  absl::Status Remove(int64_t file) const;
  // Removes all files of the log, and the folder. A file that does not belong to the log stays, and RemoveAll then
  // returns an error.
  absl::Status RemoveAll() const;

 private:
  const std::string path_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_FOLDER_H_
