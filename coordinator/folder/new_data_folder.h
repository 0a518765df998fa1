// Makes a coordinator's data folder from a backup or from checkpoint stores. The database appears in the folder when
// all of it is durable, or not at all.
#ifndef REKINDLE_COORDINATOR_FOLDER_NEW_DATA_FOLDER_H_
#define REKINDLE_COORDINATOR_FOLDER_NEW_DATA_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/folder/data_folder.h"

namespace rekindle::coordinator {

// After any failure or crash the folder has no database. If something unfinished is left in it, no coordinator starts
// on the folder (CheckComplete), and a new data folder can be made in it again. A NewDataFolder is thread-compatible.
class NewDataFolder {
 public:
  // Locks the folder `data` (mode 0700), which is made with its parents if it is missing. The errors are
  // FAILED_PRECONDITION (a coordinator has the folder, or it is not empty and was not touched), INVALID_ARGUMENT (the
  // folder cannot be used), and those of the file system.
  static absl::StatusOr<NewDataFolder> Open(const std::string& data);
  NewDataFolder(NewDataFolder&&) = default;
  // Removes the database unless Place has succeeded.
  ~NewDataFolder();

  // Returns the absolute path of the folder.
  const std::string& path() const { return folder_->path(); }
  // Returns the path at which the caller has to make the database.
  std::string unfinished() const;
  // Gives the finished database the name under which a coordinator finds it. It is durable on return. REQUIRES: the
  // database is closed. INTERNAL means that SQLite has not taken its log into the database.
  absl::Status Place();

 private:
  explicit NewDataFolder(DataFolder folder) : folder_(std::make_unique<DataFolder>(std::move(folder))) {}
  // `folder_` is the locked data folder. It is null after this object was moved from.
  std::unique_ptr<DataFolder> folder_;
};

// Returns FAILED_PRECONDITION when a restore or recover into the data folder did not finish. REQUIRES: the caller holds
// the folder.
absl::Status CheckComplete(const std::string& data);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_FOLDER_NEW_DATA_FOLDER_H_
