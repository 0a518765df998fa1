// Finds the checkpoints of a job, and says what is wrong with those that are not whole.
#ifndef REKINDLE_CHECKPOINT_JOB_JOB_CHECKPOINTS_H_
#define REKINDLE_CHECKPOINT_JOB_JOB_CHECKPOINTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

struct StoredCheckpoint {
  std::string name;
  // `manifest` is the checkpoint's manifest. It is an empty manifest if the stored one cannot be read.
  Manifest manifest;
  // `bytes` is the size of the checkpoint's shards.
  int64_t bytes = 0;
  // `written` is the time at which the checkpoint was written to its store, in Unix seconds.
  double written = 0;
  // `problem` is empty if the manifest is sound and every shard is there with its size. The content of the shards is
  // not checked (JobShards::Verify does that).
  std::string problem;
  // `of_newer_release` says that a newer release wrote the manifest. The checkpoint may be whole, but its shards are
  // not known.
  bool of_newer_release = false;
};

// Searches and lists checkpoints. The class keeps no state of its own, so it is as thread-safe as the backend of its
// folder.
class JobCheckpoints {
 public:
  explicit JobCheckpoints(JobFolder folder) : folder_(std::move(folder)) {}

  // Searches from the newest manifest down to the first whose checkpoint satisfies `options`. It is an error only if
  // the store itself cannot be listed, so a store that could not be read is never reported as empty. If `options` names
  // a checkpoint that is not there or cannot be read, the search ends with SearchResult::missing. Only if it is
  // damaged, an older one counts. FAILED_PRECONDITION says that a newer release wrote a manifest that the search has
  // reached, and which release to install.
  absl::StatusOr<SearchResult> FindNewest(const SearchOptions& options);
  // Lists the job's checkpoints by manifests and sizes only, newest first.
  absl::StatusOr<std::vector<StoredCheckpoint>> List();
  // Returns whether exactly this manifest is in the store, with every shard that it names and the right sizes.
  absl::StatusOr<bool> HasCopy(const Manifest& manifest);

 private:
  // Does the checks of FindNewest for one checkpoint. `damaged` says that the checkpoint is there but is not what its
  // name says.
  absl::StatusOr<Manifest> LookAt(const std::string& name, const SearchOptions& options, bool* damaged);

  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_JOB_CHECKPOINTS_H_
