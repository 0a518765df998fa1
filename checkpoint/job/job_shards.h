// Writes and reads the shards of a job. A shard gets its name, which is the hash of its content, only when its bytes
// are durable and match the name.
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

// Returns the bytes of a shard. The function is called at most once, and only if the shard is not there yet. The bytes
// stay valid for the duration of the call that asked for them.
using ShardContent = std::function<absl::StatusOr<std::span<const uint8_t>>()>;

// Returns the text by which error messages name a shard.
std::string Describe(const ShardRef& ref);

// Writes, reads and checks shards. The class keeps no state of its own, so it is as thread-safe as the backend of its
// folder.
class JobShards {
 public:
  using Sink = StoreBackend::Sink;
  using Progress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

  explicit JobShards(JobFolder folder) : folder_(std::move(folder)) {}

  // Copies `content`, which has `bytes` bytes, to the shard named `xxh3`. Returns when the bytes are durable, and at
  // once if the shard is there and whole. The shard's name becomes durable with the manifest. If the content changes
  // meanwhile, the result is DATA_LOSS and the shard never gets the name. The caller fills in the ref's generation,
  // index and count.
  absl::StatusOr<ShardRef> Put(const ShardContent& content, int64_t bytes, const std::string& xxh3);

  // Returns whether the shard is in the store with its size. The content is not checked.
  bool Contains(const ShardRef& ref);
  // Returns OK if all shards are there with their sizes, NOT_FOUND or DATA_LOSS for the first that is not, and any
  // other error of the store. The content is not checked.
  absl::Status CheckPresent(const std::vector<ShardRef>& shards);
  // Returns OK if all shards are whole, byte for byte. `progress` is optional and called after each shard.
  absl::Status Verify(const std::vector<ShardRef>& shards, const Progress& progress = nullptr);

  // Reads the shard and passes its pieces to `sink`. Returns DATA_LOSS if the shard is not whole, and the pieces that
  // were passed on are worthless then. An error of the sink ends the read. `into` is optional memory for the whole
  // shard, at a multiple of kBlockBytes. A piece may already be at its place in that memory when the sink gets it.
  absl::Status Read(const ShardRef& ref, const Sink& sink, uint8_t* into = nullptr);
  // Reads the whole shard into `content`.
  absl::Status Read(const ShardRef& ref, std::vector<uint8_t>* content);

 private:
  bool IsThere(const ShardRef& ref);

  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_JOB_SHARDS_H_
