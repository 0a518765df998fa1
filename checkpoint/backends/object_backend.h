// Implements a checkpoint store in a bucket. A put is atomic and durable when it returns, so no object is renamed. The
// backend makes up for two things that a bucket lacks:
//   - A bucket cannot set an object's time. A shard that is put again gets a marker beside it, "<shard>.used", and the
//   later time of the two counts as the shard's.
//   - A bucket has no cheap lookups. One list returns the sizes of all shards. A shard that this process has put or
//   read in full is not read again before it is put again.
#ifndef REKINDLE_CHECKPOINT_BACKENDS_OBJECT_BACKEND_H_
#define REKINDLE_CHECKPOINT_BACKENDS_OBJECT_BACKEND_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/backends/store_backend.h"
#include "common/objects/object_store.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

class ObjectBackend : public StoreBackend {
 public:
  explicit ObjectBackend(std::shared_ptr<common::ObjectStore> objects) : objects_(std::move(objects)) {}

  absl::Status PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) override;
  absl::Status Put(const std::string& path, const std::string& content) override;
  absl::Status SyncFolder(const std::string&) override { return absl::OkStatus(); }
  absl::Status Remove(const std::string& path) override;
  absl::Status Touch(const std::string& path) override;
  absl::Status Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) override;
  absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) override;
  absl::StatusOr<common::FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> StatAll(const std::string& folder,
                                                                        const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override;
  bool HasFolder(const std::string& folder) override;
  // Returns whether `name` is the marker of a shard. A marker that List shows may be collected, because List shows a
  // marker only if its shard is gone.
  bool IsUnfinished(const std::string& name) const override;
  bool IsVerified(const std::string& path) override;
  void SetVerified(const std::string& path) override;

 private:
  void Remember(const std::string& path, const common::ObjectInfo& info);

  const std::shared_ptr<common::ObjectStore> objects_;
  common::Mutex mutex_;
  // `verified_` maps the path of each shard that is known to be whole to its size and time.
  std::map<std::string, std::pair<int64_t, double>> verified_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_BACKENDS_OBJECT_BACKEND_H_
