// Lists the shards that a collection is about to remove, so that a writer who needs one of them learns it.
//
// As a rule, times show what is in use. They fail for a collector that freezes half-way or has a wrong clock. So a
// collector lists what it will remove, then looks for new manifests, then removes. A writer writes its manifest, then
// looks at the lists. Whatever the delays, one of the two sees the other.
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

// Writes and reads the lists. It keeps no state of its own, so it is as thread-safe as the backend of its folder.
class CondemnedShards {
 public:
  explicit CondemnedShards(JobFolder folder) : folder_(std::move(folder)) {}

  // Writes a list of these files and returns its path. It is durable on return. The collector removes it when all of
  // them are gone. The list of a dead collector is removed after the grace.
  absl::StatusOr<std::string> Announce(const std::vector<std::string>& files);
  // Checks shards whose manifest is written. ABORTED says that a collection is removing one of them. NOT_FOUND and
  // DATA_LOSS say that one is not there or has another size.
  absl::Status CheckSpared(const std::vector<ShardRef>& shards);

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_CONDEMNED_SHARDS_H_
