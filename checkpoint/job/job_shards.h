// Writes and reads the shards of a job. A shard gets its name, which is the hash of its content, only when its bytes
// are durable and match it.
#ifndef REKINDLE_CHECKPOINT_JOB_JOB_SHARDS_H_
#define REKINDLE_CHECKPOINT_JOB_JOB_SHARDS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Returns the bytes of a shard. It is called at most once, and only if the shard is not there yet. The bytes stay valid
// for the call that asked for them.
using ShardContent = std::function<absl::StatusOr<std::span<const uint8_t>>()>;

// Returns the words that name a shard in an error.
std::string Describe(const ShardRef& ref);

// Writes, reads and checks shards. It keeps no state of its own, so it is as thread-safe as the backend of its folder.
class JobShards {
 public:
  using Sink = StoreBackend::Sink;
  using Progress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

  explicit JobShards(JobFolder folder) : folder_(std::move(folder)) {}

  // Copies `content`, which has `bytes` bytes, to the shard named `xxh3`. Returns when the bytes are durable, and at
  // once if the shard is there and whole. Its name becomes durable with the manifest. If the content changes meanwhile,
  // the result is DATA_LOSS and the shard never gets the name. The caller fills in the ref's generation, index and
  // count.
  absl::StatusOr<ShardRef> Put(const ShardContent& content, int64_t bytes, const std::string& xxh3);

  // Returns whether the shard is there with its size. The content is not checked.
  bool Contains(const ShardRef& ref);
  // Returns OK if all are there with their sizes, NOT_FOUND or DATA_LOSS for the first that is not, and any other error
  // of the store. The content is not checked.
  absl::Status CheckPresent(const std::vector<ShardRef>& shards);
  // Returns OK if all are whole, byte for byte. `progress` is optional and called after each shard.
  absl::Status Verify(const std::vector<ShardRef>& shards, const Progress& progress = nullptr);

  // Reads the shard and passes it on piece by piece. It fails with DATA_LOSS if the shard is not whole, and the pieces
  // passed on are worthless then. An error of the sink ends it. `into` is optional memory for the whole shard, at a
  // multiple of kBlockBytes. A piece may then be at its place there already when the sink gets it.
  absl::Status Read(const ShardRef& ref, const Sink& sink, uint8_t* into = nullptr);
  // Reads the whole shard into `content`.
  absl::Status Read(const ShardRef& ref, std::vector<uint8_t>* content);

 private:
  bool IsThere(const ShardRef& ref);

  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_JOB_SHARDS_H_
