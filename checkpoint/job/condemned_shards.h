// Lists the shards that a collection is about to remove, so that a writer that needs one of these shards learns of its
// removal.
//
// As a rule, the times of files show what is in use. Times mislead a collector that freezes half-way or has a wrong
// clock. So a collector lists what it will remove, then looks for new manifests, then removes. A writer writes its
// manifest, then looks at the lists. Whatever the delays, the collector sees the new manifest or the writer sees the
// list.
#ifndef REKINDLE_CHECKPOINT_JOB_CONDEMNED_SHARDS_H_
#define REKINDLE_CHECKPOINT_JOB_CONDEMNED_SHARDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Writes and reads the lists of shards that are about to be removed. The class keeps no state of its own, so it is as
// thread-safe as the backend of its folder.
class CondemnedShards {
 public:
  explicit CondemnedShards(JobFolder folder) : folder_(std::move(folder)) {}

  // Writes a list of the shards' files that will be removed and returns its path. The list is durable on return. The
  // collector removes the list when all of the files are gone. The list of a dead collector is removed after the grace
  // period.
  absl::StatusOr<std::string> Announce(const std::vector<std::string>& files);
  // Checks shards whose manifest is written. ABORTED says that a collection is removing one of them. NOT_FOUND and
  // DATA_LOSS say that a shard is not there or has another size.
  absl::Status CheckSpared(const std::vector<ShardRef>& shards);

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_CONDEMNED_SHARDS_H_
