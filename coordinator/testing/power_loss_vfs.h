// SQLite's files on a PowerLossDisk, for tests. It syncs the folder when SQLite's own layer for Unix does: with the
// first sync of a journal or log that it created, and with a deletion that asks for it.
//
// One connection at a time: locks are always given.
#ifndef REKINDLE_COORDINATOR_TESTING_POWER_LOSS_VFS_H_
#define REKINDLE_COORDINATOR_TESTING_POWER_LOSS_VFS_H_

#include <sqlite3.h>

#include <string>

#include "coordinator/testing/power_loss_disk.h"

namespace rekindle::coordinator {

// The disk is not owned and outlives it. REQUIRED at its end: no connection is open through it.
class PowerLossVfs {
 public:
  explicit PowerLossVfs(PowerLossDisk* disk);
  ~PowerLossVfs();
  PowerLossVfs(const PowerLossVfs&) = delete;
  PowerLossVfs& operator=(const PowerLossVfs&) = delete;

  const std::string& name() const { return name_; }  // For sqlite3_open_v2.

 private:
  const std::string name_;
  sqlite3_vfs vfs_ = {};
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_POWER_LOSS_VFS_H_
