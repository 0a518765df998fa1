// Finds and reads the manifests of a job. A checkpoint exists when its manifest exists.
#ifndef REKINDLE_CHECKPOINT_JOB_JOB_MANIFESTS_H_
#define REKINDLE_CHECKPOINT_JOB_JOB_MANIFESTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Returns whether `status` says that a manifest will never be valid, as opposed to one that cannot be read now.
bool IsBroken(const absl::Status& status);

// Lists and reads manifests. The class keeps no state of its own, so it is as thread-safe as the backend of its folder.
class JobManifests {
 public:
  explicit JobManifests(JobFolder folder) : folder_(std::move(folder)) {}

  // Returns the names of the job's checkpoints, newest first, whether they are whole or not. `foreign` is optional and
  // receives the names of files that are not named like a manifest.
  absl::StatusOr<std::vector<ManifestName>> Names(std::vector<std::string>* foreign = nullptr);
  // Reads the manifest of a checkpoint. Returns NOT_FOUND, DATA_LOSS or INVALID_ARGUMENT if the manifest is not there
  // or not what its name says.
  absl::StatusOr<Manifest> Read(const std::string& name);

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_JOB_MANIFESTS_H_
