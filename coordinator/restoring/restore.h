// Makes a coordinator's data folder from a backup file.
#ifndef REKINDLE_COORDINATOR_RESTORING_RESTORE_H_
#define REKINDLE_COORDINATOR_RESTORING_RESTORE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "coordinator/restoring/backup_file.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

struct Restored {
  BackupHeader backup;
  // `identity` is the identity of the restored cluster. Its epoch differs from that of the backup.
  common::ClusterIdentity identity;
  std::map<v1::JobState, int> jobs;
  // `data` is the absolute path of the data folder.
  std::string data;
};

// Makes `data` (mode 0700) a data folder with the database of the backup `file` (mode 0600), in which a new epoch has
// begun, and with the bundles in the backup. Everything is durable on return. The whole backup is checked first, so
// that an unfit file touches nothing.
//
// After any failure the same call can be made again (new_data_folder.h).
//
// The errors are FAILED_PRECONDITION (the folder is not empty, a coordinator has it, or the backup is of a newer format
// or schema, with the release to install), INVALID_ARGUMENT (the file is no backup, or the folder cannot be used),
// DATA_LOSS (a damaged backup), and those of the file system.
absl::StatusOr<Restored> RestoreBackup(const std::string& file, const std::string& data);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RESTORING_RESTORE_H_
