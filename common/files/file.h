// Defines the interface for every file operation of the checkpoint store, so that tests can fail any one of them and
// lose what was not synced (common/testing/fault_file.h).
//
// Paths are absolute. A file's bytes are durable once Sync() returned, and its name once SyncDir() of its folder
// returned. Errors name the path and include the system's message: NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED (also
// for a read-only file system), RESOURCE_EXHAUSTED (disk or quota full), INTERNAL (I/O error and anything else).
#ifndef REKINDLE_COMMON_FILES_FILE_H_
#define REKINDLE_COMMON_FILES_FILE_H_

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
  // `modified` is when the file or folder was last modified, in Unix seconds of the file system's clock.
  double modified = 0;
  bool is_folder = false;
};

// Writes of whole blocks of kBlockBytes, from an address that is a multiple of kBlockBytes, go past the page cache if
// the file system can do that. Filling new pages of the cache costs more than the disk does, and nobody reads these
// pages.
inline constexpr size_t kBlockBytes = 4096;
struct FreeBlocks {
  void operator()(uint8_t* memory) const;
};
using Blocks = std::unique_ptr<uint8_t, FreeBlocks>;
// Returns memory at an address that is a multiple of kBlockBytes.
Blocks NewBlocks(size_t bytes);

// Writes a new file. If the object is destroyed without Close, it closes the file and ignores errors. It is
// thread-compatible.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(const void* data, size_t bytes) = 0;
  // Replaces bytes that were appended before.
  virtual absl::Status Overwrite(int64_t offset, const void* data, size_t bytes) = 0;
  virtual absl::Status Sync() = 0;
  // Closes the file. The caller must call it once and check its error, because some file systems report a failed write
  // only here.
  virtual absl::Status Close() = 0;
};

// Reads a file. It is thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Reads up to `bytes` from `offset`. Returns fewer only at the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, void* out, size_t bytes) const = 0;
  virtual absl::StatusOr<int64_t> Size() const = 0;
};

// Gives access to files and folders. It is thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Creates a file for writing. Returns ALREADY_EXISTS if `path` exists.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) = 0;
  // Renames `from` to `to`. If `to` exists, it is replaced atomically.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // Creates one folder. Returns OK if it is there already.
  virtual absl::Status CreateFolder(const std::string& path) = 0;
  virtual absl::Status SyncDir(const std::string& path) = 0;
  // Returns the names in a folder, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Sets the time of modification of a file or folder to the current time of the file system.
  virtual absl::Status Touch(const std::string& path) = 0;
};

// Returns the machine's own file system. What it creates can be used by this user alone (0600, folders 0700), whatever
// the umask. It is never null and lives for ever.
FileSystem* PosixFileSystem();
// Returns a file system like PosixFileSystem, but the members of `group` may read what it creates (0640, folders 0750).
// The object lives for ever.
FileSystem* NewGroupFileSystem(gid_t group);

// Returns the folder that contains `path`.
std::string DirName(const std::string& path);

// Returns the content of the whole file. Returns OUT_OF_RANGE, before anything is allocated, if the file is larger than
// `limit`.
absl::StatusOr<std::string> ReadFile(FileSystem& fs, const std::string& path, size_t limit);
// Creates the missing folders of `path`, and makes each of them durable in its parent folder.
absl::Status CreateFolders(FileSystem& fs, const std::string& path);
// Returns a name beside `path` for its unfinished content. No other process and no other call uses that name.
std::string TemporaryName(const std::string& path);
bool IsTemporaryName(std::string_view name);
// Writes a file all or nothing, durable on return: temporary file, sync, rename, sync of the folder. On an error it
// removes the temporary file if it can. If only the last sync fails, the new content may be in place.
absl::Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view content);

// Returns `errno` as a status, for example "WHAT PATH: No space left on device".
absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_FILE_H_
