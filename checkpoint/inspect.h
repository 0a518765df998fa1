// What `rekindle checkpoint ls` and `verify` show. Reads a store directly; no service needed. Thread-safe.
#ifndef REKINDLE_CHECKPOINT_INSPECT_H_
#define REKINDLE_CHECKPOINT_INSPECT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

struct CheckpointInfo {
  std::string name;
  int generation = 0;
  int step = 0;
  std::string writer;
  int shards = 0;
  int64_t bytes = 0;    // Of its shards; 0 when the manifest cannot be read.
  double written = 0;   // Unix seconds.
  std::string problem;  // Empty: its manifest is sound and every shard there with its size.
};

// Of one job, newest first; none when the store has nothing of it. INVALID_ARGUMENT for a bad URI or uid.
absl::StatusOr<std::vector<CheckpointInfo>> ListCheckpoints(const std::string& store, const std::string& job_uid);
// Uids of the jobs that have checkpoints in `store`.
absl::StatusOr<std::vector<std::string>> ListCheckpointJobs(const std::string& store);
// OK when it is whole, byte for byte; NOT_FOUND or DATA_LOSS names what is not. `progress` (optional) is called on
// this thread after each shard.
absl::Status VerifyCheckpoint(const std::string& store, const std::string& job_uid, const std::string& name,
                              const std::function<void(int64_t done_bytes, int64_t total_bytes)>& progress = nullptr);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_INSPECT_H_
