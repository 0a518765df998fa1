// A folder held by one process at a time: a coordinator's, or that of a whole `rekindle up`.
#ifndef REKINDLE_COORDINATOR_DATA_FOLDER_H_
#define REKINDLE_COORDINATOR_DATA_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::coordinator {

// Movable; the lock ends with it, or with the process.
class DataFolder {
 public:
  // For messages: who holds such a folder, and the flag that names it.
  struct Use {
    std::string holder = "the coordinator";
    std::string flag = "--data";
  };

  // Creates the folder (for its owner only: it holds job secrets) and locks it, which takes up to a second where
  // another process has it. FAILED_PRECONDITION names the process that has it, of which nothing was touched.
  // INVALID_ARGUMENT: cannot be created or written, or belongs to another user than this one and root.
  static absl::StatusOr<DataFolder> Open(const std::string& path, const Use& use);
  static absl::StatusOr<DataFolder> Open(const std::string& path) { return Open(path, {}); }
  ~DataFolder();
  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&&) = delete;

  const std::string& path() const { return path_; }  // Absolute.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_DATA_FOLDER_H_
