// Completes checkpoints. A manifest is written last, and only when every shard that it names is there, so a checkpoint
// is whole or invisible. job_shards.h writes the shards before.
#ifndef REKINDLE_CHECKPOINT_JOB_CHECKPOINT_WRITER_H_
#define REKINDLE_CHECKPOINT_JOB_CHECKPOINT_WRITER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Writes manifests. The class keeps no state of its own, so it is as thread-safe as the backend of its folder.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(JobFolder folder) : folder_(std::move(folder)) {}

  // Writes the manifest and returns its name when it is durable. Repeating the call is harmless. NOT_FOUND or DATA_LOSS
  // says that a shard is missing or has another size. FAILED_PRECONDITION says that the store knows of a newer
  // generation. ABORTED says that another process is collecting one of the manifest's shards, so this checkpoint cannot
  // rely on it. The next checkpoint has other shards. `job` becomes durable before the manifest. INVALID_ARGUMENT says
  // that `job` belongs to another job. ABORTED is also returned if a job file is required, the caller passes none, and
  // the store has none. REQUIRES: The manifest is of the folder's job.
  absl::StatusOr<std::string> Put(const Manifest& manifest, const JobFile& job);
  // Works like Put for a checkpoint that is complete in another store. The checkpoint may be older than those in this
  // store.
  absl::StatusOr<std::string> PutCopy(const Manifest& manifest);

 private:
  absl::StatusOr<std::string> Write(const Manifest& manifest, const JobFile& job);

  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_CHECKPOINT_WRITER_H_
