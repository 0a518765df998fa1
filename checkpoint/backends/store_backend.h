// Declares the interface on which a Store is based: either folders of files (file_backend.h) or a bucket of objects
// (object_backend.h).
//
// Paths are relative to the store's root: "<job uid>/shards/<name>". The caller has checked every part of them.
// Implementations are thread-safe. Errors name the path and include the system's message. NOT_FOUND is returned only if
// it is certain.
#ifndef REKINDLE_CHECKPOINT_BACKENDS_STORE_BACKEND_H_
#define REKINDLE_CHECKPOINT_BACKENDS_STORE_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/file.h"

namespace rekindle::checkpoint {

class StoreBackend {
 public:
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;

  virtual ~StoreBackend() = default;

  // Copies `content` to `path`, all or nothing. Returns DATA_LOSS if the content does not have the XXH3 `xxh3`, even if
  // it changed only during the call. The file has its final name on return, and is durable after SyncFolder of its
  // folder.
  virtual absl::Status PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) = 0;
  // Writes a file with `content`, all or nothing, durable on return. If the file already has that content, nothing
  // changes.
  virtual absl::Status Put(const std::string& path, const std::string& content) = 0;
  // Makes the names of the files in `folder` durable, whoever has written them.
  virtual absl::Status SyncFolder(const std::string& folder) = 0;
  // Removes the file at `path`. Returns OK if there is no such file.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Sets the time of the file at `path` to now, which Stat returns as `modified` from then on.
  virtual absl::Status Touch(const std::string& path) = 0;

  // Reads a file piece by piece, in order. Returns DATA_LOSS if the file does not have `size` bytes. An error of the
  // sink ends the read. `into` is optional memory for the whole file, at a multiple of kBlockBytes. If the backend can,
  // it reads each piece to its place in that memory.
  virtual absl::Status Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) = 0;
  // Reads the whole file. Returns OUT_OF_RANGE, before memory is allocated, if the file is larger than `limit`.
  virtual absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) = 0;
  virtual absl::StatusOr<common::FileInfo> Stat(const std::string& path) = 0;
  // Returns the Stat of each name in `folder`, in the order of `names`. A NOT_FOUND concerns one file. Any other error
  // fails the whole call.
  virtual absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> StatAll(
      const std::string& folder, const std::vector<std::string>& names) = 0;
  // Returns the sorted names of the files in a folder. If the folder is not there, the list is empty. "" is the root.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& folder) = 0;
  virtual bool HasFolder(const std::string& folder) = 0;
  // Returns whether `name` belongs to a file that was never completed. Such files are never read, and are collected
  // after the grace period.
  virtual bool IsUnfinished(const std::string& name) const = 0;

  // Returns whether this process has written or read the whole file at `path` and it has not changed since. If so, a
  // shard that is put again under this path need not be read first.
  virtual bool IsVerified(const std::string&) { return false; }
  virtual void SetVerified(const std::string&) {}
};

// Returns a DATA_LOSS error which says that the written bytes do not have the announced hash.
absl::Status ChangedAfterHandOver(const std::string& found, const std::string& announced);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_BACKENDS_STORE_BACKEND_H_
