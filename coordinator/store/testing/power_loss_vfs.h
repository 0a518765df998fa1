// Puts SQLite's files on a PowerLossDisk, for tests. This VFS syncs the folder when SQLite's own VFS for Unix does:
// with the first sync of a journal or log that it created, and with a deletion that asks for it.
//
// Only one connection may be open at a time, because every lock is granted.
#ifndef REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_VFS_H_
#define REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_VFS_H_

#include <sqlite3.h>

#include <string>

#include "coordinator/store/testing/power_loss_disk.h"

namespace rekindle::coordinator {

// The caller keeps ownership of the disk, which must outlive the PowerLossVfs. REQUIRES when the PowerLossVfs is
// destroyed: no connection is open through it.
class PowerLossVfs {
 public:
  explicit PowerLossVfs(PowerLossDisk* disk);
  ~PowerLossVfs();
  PowerLossVfs(const PowerLossVfs&) = delete;
  PowerLossVfs& operator=(const PowerLossVfs&) = delete;

  // Returns the name of the VFS, to be passed to sqlite3_open_v2.
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  sqlite3_vfs vfs_ = {};
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_VFS_H_
