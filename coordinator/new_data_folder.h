// A coordinator's data folder that is made from what is left of another: its database appears there when all of it is
// durable, or not at all.
#ifndef REKINDLE_COORDINATOR_NEW_DATA_FOLDER_H_
#define REKINDLE_COORDINATOR_NEW_DATA_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/data_folder.h"

namespace rekindle::coordinator {

// After any failure, a crash too, the folder has no database, a coordinator does not start on it where something is
// left (CheckComplete), and another one can be made in it. Thread-compatible.
class NewDataFolder {
 public:
  // Holds `data` (mode 0700), which is made where it is not there, with its parents.
  // Errors: FAILED_PRECONDITION (it is not empty, and was not touched; or a coordinator has it), INVALID_ARGUMENT (it
  // cannot be used), and those of the file system.
  static absl::StatusOr<NewDataFolder> Open(const std::string& data);
  NewDataFolder(NewDataFolder&&) = default;
  // Removes what is unfinished.
  ~NewDataFolder();

  const std::string& path() const { return folder_->path(); }  // Absolute.
  // Where the caller makes the database.
  std::string unfinished() const;
  // The database is closed and becomes the coordinator's, durable on return. INTERNAL: SQLite has not taken its log in.
  absl::Status Place();

 private:
  explicit NewDataFolder(DataFolder folder) : folder_(std::make_unique<DataFolder>(std::move(folder))) {}
  std::unique_ptr<DataFolder> folder_;  // Null: moved from.
};

// FAILED_PRECONDITION: what was to make this data folder did not come to its end. REQUIRES: the caller holds the
// folder.
absl::Status CheckComplete(const std::string& data);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_NEW_DATA_FOLDER_H_
