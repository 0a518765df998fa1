// What a Store stands on: folders of files (store_files.h) or a bucket of objects (store_objects.h).
//
// Paths are relative to the store's root: "<job uid>/shards/<name>". The caller has checked every part of them.
// Thread-safe. Errors name the path and what the system said; NOT_FOUND only where it is certain.
#ifndef REKINDLE_CHECKPOINT_STORE_BACKEND_H_
#define REKINDLE_CHECKPOINT_STORE_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/file.h"

namespace rekindle::checkpoint {

class StoreBackend {
 public:
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;

  virtual ~StoreBackend() = default;

  // All or nothing: copies `content` to `path`, unless it does not have the XXH3 `xxh3` (DATA_LOSS), also when it is
  // changed meanwhile. It has its name on return, and is durable after Settle of its folder.
  virtual absl::Status PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) = 0;
  // All or nothing, durable on return. Putting the content that is there changes nothing.
  virtual absl::Status Put(const std::string& path, const std::string& content) = 0;
  // Makes the names in `folder` durable, whoever put them.
  virtual absl::Status Settle(const std::string& folder) = 0;
  // OK when it is not there. Durable after Settle.
  virtual absl::Status Remove(const std::string& path) = 0;
  // From now on Stat tells a `modified` of now.
  virtual absl::Status Touch(const std::string& path) = 0;

  // Piece by piece, in order, a file that must have `size` (DATA_LOSS). A sink's error ends it. `into` (optional) is
  // memory for the whole, at a multiple of kBlockBytes: where a backend can, it reads each piece to its place there.
  virtual absl::Status Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) = 0;
  // The whole; OUT_OF_RANGE when it is larger than `limit`, before anything is allocated.
  virtual absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) = 0;
  virtual absl::StatusOr<common::FileInfo> Stat(const std::string& path) = 0;
  // Stat of each name in `folder`, in that order; an error of one is NOT_FOUND, any other is the whole call's.
  virtual absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> StatAll(
      const std::string& folder, const std::vector<std::string>& names) = 0;
  // Sorted; none when the folder is not there. "" is the root.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& folder) = 0;
  virtual bool HasFolder(const std::string& folder) = 0;
  // A name of something that was never completed: never read, collected after the grace.
  virtual bool IsUnfinished(const std::string& name) const = 0;

  // Whether this process has put or read the whole of `path`, and it has not changed since. Spares the reading of a
  // shard that is put again.
  virtual bool IsVerified(const std::string&) { return false; }
  virtual void SetVerified(const std::string&) {}
};

// DATA_LOSS: what was written is not what was announced.
absl::Status ChangedAfterHandOver(const std::string& found, const std::string& announced);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_BACKEND_H_
