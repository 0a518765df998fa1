// A file system in memory, for tests, that loses and fails as real ones do:
//   * Crash() keeps what was synced (bytes by Sync, names by SyncDir) and drops, or keeps in part, everything else;
//   * any operation can be made to fail, once or from then on, with part of its effect.
// Thread-safe; Clone and Crash only while no file of it is open.
#ifndef REKINDLE_COMMON_FAULT_FILE_H_
#define REKINDLE_COMMON_FAULT_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/file.h"

namespace rekindle::common {

class FaultFileSystem : public FileSystem {
 public:
  FaultFileSystem();

  // Operations are counted from 0, reads too. The n-th fails with `error` (an append may leave half its bytes); with
  // `for_ever` so does every later one, as for a process that died there.
  void FailAt(int64_t n, absl::Status error, bool for_ever);
  void Heal();
  // "append /a/b", one an operation so far.
  std::vector<std::string> operations() const;

  // Power loss. Seed 0: everything that was not synced is gone. Others: each unsynced name is kept or lost, and each
  // file with unsynced bytes keeps a random part of them. Heals.
  void Crash(uint64_t seed);

  std::unique_ptr<FaultFileSystem> Clone() const;

  // For damage from outside: not counted, durable at once.
  std::vector<std::string> Files() const;
  std::string Get(const std::string& path) const;
  void Put(const std::string& path, const std::string& content);
  void Erase(const std::string& path);

  // The clock of modification times; every change advances it by a millisecond.
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

  // All REQUIRE mutex_ held.
  absl::Status Begin(const char* what, const std::string& path);
  double Tick();
  absl::StatusOr<std::shared_ptr<Node>> File(const std::string& path) const;
  absl::Status CheckFolder(const std::string& path) const;

  mutable std::mutex mutex_;
  Names live_;
  Names durable_;
  double now_ = 1e6;
  std::vector<std::string> operations_;
  int64_t fail_at_ = -1;
  absl::Status error_;
  bool for_ever_ = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FAULT_FILE_H_
