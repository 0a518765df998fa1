// Stores job.json in the folder of its job. The file has what a coordinator without a record of the job needs to
// continue it (checkpoint/format/framed_job_file.h).
#ifndef REKINDLE_CHECKPOINT_JOB_STORED_JOB_FILE_H_
#define REKINDLE_CHECKPOINT_JOB_STORED_JOB_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Writes and reads job.json. The class keeps no state of its own, so it is as thread-safe as the backend of its folder.
class StoredJobFile {
 public:
  explicit StoredJobFile(JobFolder folder) : folder_(std::move(folder)) {}

  // Replaces job.json, which is durable on return. `generation` is the generation of the writer. FAILED_PRECONDITION
  // says that the store knows of a newer generation and nothing was written, or that a newer one has begun meanwhile,
  // which writes the file again with its next checkpoint. INVALID_ARGUMENT says that `text` is not a job file of the
  // folder's job (CheckJobFile).
  absl::Status Put(int generation, const std::string& text);
  // Writes the job file `job`, which has to be durable before the manifest that it belongs to. The caller has checked
  // the manifest's generation. INVALID_ARGUMENT says that the file is of another job. ABORTED says that a job file is
  // required, the caller passes none, and the store has none.
  absl::Status PutBeforeManifest(const JobFile& job);

  // Returns the inner text of job.json, the JSON of a v1.JobFile. NOT_FOUND says that there is no job.json. DATA_LOSS
  // and FAILED_PRECONDITION are those of DecodeJobFile.
  absl::StatusOr<std::string> Read();
  absl::StatusOr<bool> IsThere();

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_STORED_JOB_FILE_H_
