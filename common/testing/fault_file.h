// This is a file system in memory for tests. It loses data and fails as real file systems do:
//   * Crash() keeps what was synced (bytes by Sync, names by SyncDir) and drops everything else or keeps parts of it.
//   * Any operation can be made to fail, once or from then on, with part of its effect.
// It is thread-safe. Clone and Crash may be called only while none of its files is open.
#ifndef REKINDLE_COMMON_TESTING_FAULT_FILE_H_
#define REKINDLE_COMMON_TESTING_FAULT_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/files/file.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

class FaultFileSystem : public FileSystem {
 public:
  FaultFileSystem();

  // Makes the n-th operation fail with `error`. Operations are counted from 0, including reads. An append that fails
  // may leave half of its bytes. With `for_ever` every later operation fails as well, as if the process had died there.
  void FailAt(int64_t n, absl::Status error, bool for_ever);
  void Heal();
  // Returns one entry like "append /a/b" for each operation so far.
  std::vector<std::string> operations() const;

  // Simulates a power loss. With seed 0 everything that was not synced is gone. With other seeds each unsynced name is
  // kept or lost, and each file with unsynced bytes keeps a random part of them. Operations stop failing.
  void Crash(uint64_t seed);

  std::unique_ptr<FaultFileSystem> Clone() const;

  // The tests read and damage files from outside with the functions below. Their calls are not counted as operations,
  // and their changes are durable at once.
  std::vector<std::string> Files() const;
  std::string Get(const std::string& path) const;
  void Put(const std::string& path, const std::string& content);
  void Erase(const std::string& path);

  // Returns the time of the clock from which files get their times of modification. Every change advances the clock by
  // a millisecond.
  double now() const;
  void Advance(double seconds);

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status CreateFolder(const std::string& path) override;
  absl::Status SyncDir(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::Status Touch(const std::string& path) override;

 private:
  friend class FaultWritableFile;
  friend class FaultReadableFile;
  struct Node {
    std::string content;
    std::string durable;
    double modified = 0;
    bool is_folder = false;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  absl::Status Begin(const char* what, const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double Tick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Node>> File(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckFolder(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Names live_ ABSL_GUARDED_BY(mutex_);
  Names durable_ ABSL_GUARDED_BY(mutex_);
  double now_ ABSL_GUARDED_BY(mutex_) = 1e6;
  std::vector<std::string> operations_ ABSL_GUARDED_BY(mutex_);
  int64_t fail_at_ ABSL_GUARDED_BY(mutex_) = -1;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  bool for_ever_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_FAULT_FILE_H_
