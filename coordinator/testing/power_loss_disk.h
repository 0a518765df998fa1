// A disk in memory that loses power between any two operations, or fails any one of them, for tests of what must be
// durable.
//
// What was written since a file's last sync may be lost or kept in any part: each write and truncation by itself, and
// the last write that is kept may be cut at any byte. What was created or deleted since the folder's last sync may be
// lost or kept, each name by itself. A sync that fails has written any part of it, and no later sync writes the rest.
//
// Files are plain objects: whoever has one open keeps it, whatever becomes of its name. Thread-safe, but for Crash,
// which REQUIRES that nobody uses the disk.
#ifndef REKINDLE_COORDINATOR_TESTING_POWER_LOSS_DISK_H_
#define REKINDLE_COORDINATOR_TESTING_POWER_LOSS_DISK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace rekindle::coordinator {

class PowerLossDisk {
 public:
  enum class Operation { kOpen, kRead, kLook, kCreate, kWrite, kTruncate, kSync, kDelete };
  enum class Result { kDone, kFailed, kFull, kMissing };

  struct Change {
    int64_t offset = 0;
    std::string bytes;
    bool truncates = false;  // To `offset`.
  };
  struct File {
    std::string name;  // Empty: it has none, and is not counted.
    std::string content;
    std::string durable;
    std::vector<Change> unsynced;
    bool syncs_folder = false;                    // Its next sync syncs the folder, too.
    std::vector<std::unique_ptr<char[]>> shared;  // Memory that its readers share; lost with the power.
  };
  using FilePointer = std::shared_ptr<File>;

  // Seeds of Crash that do not draw.
  static constexpr uint64_t kNothingUnsynced = 0;  // All that was not synced is gone.
  static constexpr uint64_t kEverything = 1;       // All is kept, as where only the process dies.

  // Operations are counted from 0. At the n-th the power is lost: it may have taken part of its effect, and every later
  // one fails until Crash.
  void LosePowerAt(int64_t n);
  // The n-th fails once with `result`. A write leaves half of its bytes.
  void FailAt(int64_t n, Result result);
  // Decides by the seed what is left. Whatever was open then is lost to its user.
  void Crash(uint64_t seed);

  std::vector<Operation> operations() const;  // So far.
  static bool Changes(Operation operation) { return operation > Operation::kLook; }
  bool lost() const;  // The power, and Crash was not called yet.

  // kMissing: there is none and `create` is false. An empty name makes a file that nobody else finds.
  Result Open(const std::string& name, bool create, bool syncs_folder, FilePointer* file);
  // Bytes beyond the end are left out.
  Result Read(const FilePointer& file, int64_t offset, int64_t size, std::string* bytes);
  Result Write(const FilePointer& file, int64_t offset, std::string bytes);
  Result Truncate(const FilePointer& file, int64_t size);
  Result Sync(const FilePointer& file);
  Result Delete(const std::string& name, bool sync_folder);
  Result Exists(const std::string& name, bool* exists);
  int64_t Size(const FilePointer& file) const;
  // REQUIRES region <= the number of regions so far.
  char* SharedRegion(const FilePointer& file, size_t region, size_t bytes);

 private:
  struct NameChange {
    std::string name;
    FilePointer file;  // Null: deleted.
  };

  // REQUIRES mutex_ held, as do all below. kDone: goes on. Else it fails, and may take part of its effect.
  Result Begin(Operation operation, const File* file = nullptr);
  void SetName(const std::string& name, FilePointer file);
  void SyncFolder();
  // What a random part of the unsynced changes leaves.
  void KeepSome(File& file, uint64_t seed);
  bool Keeps(uint64_t seed);

  mutable std::mutex mutex_;
  std::map<std::string, FilePointer> names_;
  std::map<std::string, FilePointer> durable_names_;
  std::vector<NameChange> unsynced_names_;
  std::vector<Operation> operations_;
  std::mt19937_64 random_{1};
  int64_t power_lost_at_ = -1;
  int64_t fails_at_ = -1;
  Result failure_ = Result::kDone;
  bool lost_ = false;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_POWER_LOSS_DISK_H_
