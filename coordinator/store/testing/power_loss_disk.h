// Simulates a disk in memory that loses power between any two operations, or fails any one of them. It is for tests of
// what must be durable.
//
// What was written since a file's last sync may be lost or kept in any part: each write and truncation by itself, and
// the last write that is kept may be cut at any byte. What was created or deleted since the folder's last sync may be
// lost or kept, each name by itself. A sync that fails has written any part of the changes, and no later sync writes
// the rest.
//
// Files are plain objects: whoever has a file open keeps it, whatever becomes of its name. A PowerLossDisk is
// thread-safe, except that nobody may use the disk during Crash.
#ifndef REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_DISK_H_
#define REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_DISK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/sync/mutex.h"

namespace rekindle::coordinator {

class PowerLossDisk {
 public:
  enum class Operation { kOpen, kRead, kLook, kCreate, kWrite, kTruncate, kSync, kDelete };
  enum class Result { kDone, kFailed, kFull, kMissing };

  struct Change {
    int64_t offset = 0;
    std::string bytes;
    // If `truncates` is true, the change truncates the file to `offset`.
    bool truncates = false;
  };
  struct File {
    // `name` is empty for a file without a name. Operations on such a file are not counted.
    std::string name;
    std::string content;
    std::string durable;
    std::vector<Change> unsynced;
    // If `syncs_folder` is true, the next sync of the file also syncs the folder.
    bool syncs_folder = false;
    // `shared` is memory that the users of the file share. It is lost with the power.
    std::vector<std::unique_ptr<char[]>> shared;
  };
  using FilePointer = std::shared_ptr<File>;

  // With the seeds `kNothingUnsynced` and `kEverything`, Crash does not draw what is kept. With `kNothingUnsynced`
  // everything that was not synced is gone.
  static constexpr uint64_t kNothingUnsynced = 0;
  // With the seed `kEverything` everything is kept, as when only the process dies.
  static constexpr uint64_t kEverything = 1;

  // Loses the power at the n-th operation on the disk, counted from 0. That operation may be carried out in part, and
  // every later one fails until Crash.
  void LosePowerAt(int64_t n);
  // Makes the n-th operation fail once with `result`. A write that fails leaves half of its bytes.
  void FailAt(int64_t n, Result result);
  // Ends a loss of power. The seed decides which changes that were not synced are left. Files that were open are lost
  // to their users.
  void Crash(uint64_t seed);

  // Returns all operations on the disk so far.
  std::vector<Operation> operations() const;
  static bool Changes(Operation operation) { return operation > Operation::kLook; }
  // Returns whether the power was lost and Crash has not been called since.
  bool lost() const;

  // Opens a file. Returns kMissing when it does not exist and `create` is false. An empty name makes a file that nobody
  // else finds.
  Result Open(const std::string& name, bool create, bool syncs_folder, FilePointer* file);
  // Reads `size` bytes from `offset` on, or fewer when the range goes beyond the end of the file.
  Result Read(const FilePointer& file, int64_t offset, int64_t size, std::string* bytes);
  Result Write(const FilePointer& file, int64_t offset, std::string bytes);
  Result Truncate(const FilePointer& file, int64_t size);
  Result Sync(const FilePointer& file);
  Result Delete(const std::string& name, bool sync_folder);
  Result Exists(const std::string& name, bool* exists);
  int64_t Size(const FilePointer& file) const;
  // Returns a region of the file's shared memory, and makes it if it is missing. REQUIRES: `region` is at most the
  // number of regions so far.
  char* SharedRegion(const FilePointer& file, size_t region, size_t bytes);

 private:
  struct NameChange {
    std::string name;
    // `file` is null when the name was deleted.
    FilePointer file;
  };

  // Counts an operation, and returns kDone when the operation may go on. Otherwise it must fail, and may be carried out
  // in part.
  Result Begin(Operation operation, const File* file = nullptr) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetName(const std::string& name, FilePointer file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SyncFolder() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps a random part of the file's unsynced changes, and forgets the others.
  void KeepSome(File& file, uint64_t seed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Keeps(uint64_t seed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable common::Mutex mutex_;
  std::map<std::string, FilePointer> names_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, FilePointer> durable_names_ ABSL_GUARDED_BY(mutex_);
  std::vector<NameChange> unsynced_names_ ABSL_GUARDED_BY(mutex_);
  std::vector<Operation> operations_ ABSL_GUARDED_BY(mutex_);
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_){1};
  int64_t power_lost_at_ ABSL_GUARDED_BY(mutex_) = -1;
  int64_t fails_at_ ABSL_GUARDED_BY(mutex_) = -1;
  Result failure_ ABSL_GUARDED_BY(mutex_) = Result::kDone;
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_TESTING_POWER_LOSS_DISK_H_
