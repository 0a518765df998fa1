// Every file operation of the checkpoint store goes through this interface, so that tests can fail any one of them
// and lose what was not synced (common/fault_file.h).
//
// Paths are absolute. Durability: a file's bytes once Sync() returned; its name once SyncDir() of its folder returned.
// Errors name the path and what the system said: NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED (also a read-only file
// system), RESOURCE_EXHAUSTED (disk or quota full), INTERNAL (I/O error and anything else).
#ifndef REKINDLE_COMMON_FILE_H_
#define REKINDLE_COMMON_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct FileInfo {
  int64_t size = 0;
  double modified = 0;  // Unix seconds, of the file system's clock.
  bool is_folder = false;
};

// Whole blocks of this size, at an address that is a multiple of it, go past the page cache where the file system can:
// pages that are new to the machine cost more than the disk, and nobody reads them there.
inline constexpr size_t kBlockBytes = 4096;
struct FreeBlocks {
  void operator()(uint8_t* memory) const;
};
using Blocks = std::unique_ptr<uint8_t, FreeBlocks>;
// Memory at such an address.
Blocks NewBlocks(size_t bytes);

// A new file. Destroying it without Close closes it and ignores errors. Thread-compatible.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(const void* data, size_t bytes) = 0;
  virtual absl::Status Sync() = 0;
  // Errors matter: some file systems report a failed write only here. Once.
  virtual absl::Status Close() = 0;
};

// Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Up to `bytes` from `offset`; fewer only at the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, void* out, size_t bytes) const = 0;
  virtual absl::StatusOr<int64_t> Size() const = 0;
};

// Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // ALREADY_EXISTS when there is one.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) = 0;
  // Replaces `to`, atomically.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // One folder; OK when it is there.
  virtual absl::Status CreateFolder(const std::string& path) = 0;
  virtual absl::Status SyncDir(const std::string& path) = 0;
  // Names in a folder, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Sets `modified` to the file system's now.
  virtual absl::Status Touch(const std::string& path) = 0;
};

// The machine's own. What it creates is for this user alone (0600, folders 0700), whatever the umask. Never null, lives
// for ever.
FileSystem* PosixFileSystem();
// The same, but that the members of `group` may read what it creates (0640, folders 0750).
FileSystem* NewGroupFileSystem(gid_t group);

// Folder of a path, and its last component.
std::string DirName(const std::string& path);
std::string BaseName(const std::string& path);

// The whole file; OUT_OF_RANGE when it is larger than `limit`, before anything is allocated.
absl::StatusOr<std::string> ReadFile(FileSystem& fs, const std::string& path, size_t limit);
// Creates the missing folders of `path`, each durable in its parent.
absl::Status CreateFolders(FileSystem& fs, const std::string& path);
// A name beside `path` for its unfinished content, unlike any other process's or call's.
std::string TemporaryName(const std::string& path);
bool IsTemporaryName(std::string_view name);
// All or nothing, durable on return: temporary file, sync, rename, sync of the folder. On an error the temporary file
// is removed as far as that works. (When only the last sync fails, the new content may be in place.)
absl::Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view content);

// `errno` as a status: "WHAT PATH: No space left on device".
absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILE_H_
