// Decides which checkpoints of a job go, by retention rule or by name, and has them removed (sweep.h).
#ifndef REKINDLE_CHECKPOINT_JOB_COLLECTOR_H_
#define REKINDLE_CHECKPOINT_JOB_COLLECTOR_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/job/job_folder.h"
#include "checkpoint/job/sweep.h"

namespace rekindle::checkpoint {

// Removes checkpoints. The class keeps no state of its own, so it is as thread-safe as the backend of its folder.
class Collector {
 public:
  struct Options {
    // `is_archived` returns whether the archive has exactly this checkpoint, whole. Without the function no checkpoint
    // counts as archived.
    std::function<absl::StatusOr<bool>(const Manifest&)> is_archived;
    // `generation` is the generation that collects, or 0 if a user does.
    int generation = 0;
    // If `dry_run` is set, the collection only reports what it would remove.
    bool dry_run = false;
  };

  // A file that no manifest names is kept for `grace_seconds`, the grace period, because it may belong to a checkpoint
  // that is being written.
  Collector(JobFolder folder, double grace_seconds) : folder_(std::move(folder)), grace_seconds_(grace_seconds) {}

  // Removes what neither `retention` nor a pin keeps: manifests, the shards that only these manifests named, and
  // unnamed shards and temporary files older than the grace period. Files with foreign names stay. `now` is Unix time
  // in seconds. The call is safe beside a writer, beside a process that pins, and beside another collection, as long as
  // these take less than the grace period. A checkpoint that is due to be archived is removed only if the archive
  // already has it. FAILED_PRECONDITION says that nothing was done, because a manifest of a newer release is there,
  // whose shards are not known, or because a generation after that of `options` has begun.
  absl::StatusOr<Collected> Collect(const Retention& retention, double now, const Options& options);
  // Removes the named checkpoints and the shards that only they name. FAILED_PRECONDITION says that nothing was done.
  // It is returned for a checkpoint that is pinned or the newest whole one, unless `force` is set. It is also returned
  // if the job has a checkpoint of a newer release that `names` does not contain. NOT_FOUND says that a checkpoint of
  // `names` is not there.
  absl::StatusOr<Collected> Remove(const std::vector<std::string>& names, bool force, double now);

 private:
  JobFolder folder_;
  double grace_seconds_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_COLLECTOR_H_
