// A coordinator's data folder made from a backup file.
#ifndef REKINDLE_COORDINATOR_RESTORE_H_
#define REKINDLE_COORDINATOR_RESTORE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "coordinator/backup_file.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

struct Restored {
  BackupHeader backup;
  common::ClusterIdentity identity;  // Of the cluster from now on: another epoch than that of the backup.
  std::map<v1::JobState, int> jobs;
  std::string data;  // The folder, absolute.
};

// Makes `data` (mode 0700) a data folder with the database of the backup `file` (mode 0600), in which a new epoch has
// begun. All of that is durable on return. The whole file is read first, so that one which is unfit touches nothing.
//
// After any failure the same call can be made again (new_data_folder.h).
//
// Errors: FAILED_PRECONDITION (the folder is not empty, or a coordinator has it; the backup is of a newer format or
// schema: names the release to install), INVALID_ARGUMENT (no backup; a folder that cannot be used), DATA_LOSS (a
// damaged one), and those of the file system.
absl::StatusOr<Restored> RestoreBackup(const std::string& file, const std::string& data);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RESTORE_H_
