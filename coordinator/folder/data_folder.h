// Locks a folder that one process at a time may use: the data folder of a coordinator, or that of a whole `rekindle
// up`.
#ifndef REKINDLE_COORDINATOR_FOLDER_DATA_FOLDER_H_
#define REKINDLE_COORDINATOR_FOLDER_DATA_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::coordinator {

// A DataFolder is movable. The lock ends with the object, or with the process.
class DataFolder {
 public:
  // Says for error messages who holds a folder that is in use, and which flag names the folder.
  struct Use {
    std::string holder = "the coordinator";
    std::string flag = "--data";
  };

  // Creates the folder, for its owner only because it holds job secrets, and locks it. That takes up to a second when
  // another process holds the folder. FAILED_PRECONDITION names the process that holds it, and nothing was touched
  // then. INVALID_ARGUMENT means that the folder cannot be created or written, or belongs to a user other than this one
  // and root.
  static absl::StatusOr<DataFolder> Open(const std::string& path, const Use& use);
  static absl::StatusOr<DataFolder> Open(const std::string& path) { return Open(path, {}); }
  ~DataFolder();
  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&&) = delete;

  // Returns the absolute path of the folder.
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_FOLDER_DATA_FOLDER_H_
