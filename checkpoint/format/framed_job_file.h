// Reads and frames job.json. This file is kept beside a job's checkpoints and has what a coordinator without a record
// of the job needs to continue it:
//
//   {"xxh3":"<checksum of the inner text>","job":{"format":1,"job_uid":"...", ...}} and a newline, in UTF-8
//
// The inner text is the JSON of a v1.JobFile. The coordinator makes it (coordinator/core/record/job_json.h), rank 0
// fetches it, and the checkpoint service writes it unchanged. So nobody on the way needs to know its fields, and an
// older release on the way loses nothing that a newer one has written.
//
// All functions of this header are pure and do not use protobuf.
#ifndef REKINDLE_CHECKPOINT_FORMAT_FRAMED_JOB_FILE_H_
#define REKINDLE_CHECKPOINT_FORMAT_FRAMED_JOB_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

inline constexpr int kJobFileFormat = 1;
// `kMaxJobFileBytes` limits the size of a whole job.json.
inline constexpr size_t kMaxJobFileBytes = 64 << 10;
// A node reports on at most `kMostStoredJobs` jobs that it has found in the checkpoint stores.
inline constexpr int kMostStoredJobs = 8;

// Describes the job file that has to be beside a checkpoint.
struct JobFile {
  // `text` is the whole job.json as `FrameJobFile` makes it. If it is empty, the file in the store stays as it is.
  std::string text;
  // If `required` is set, no checkpoint becomes durable before a job file is beside it.
  bool required = false;
};

// Returns a whole job.json around the inner text `inner`.
std::string FrameJobFile(std::string_view inner);

// Checks that `text` may be written as the job.json of the job `job_uid`: it has the frame, is within the size limit,
// is strict JSON, and names the job. The format of the job file may be a newer one. INVALID_ARGUMENT says what is
// wrong.
absl::Status CheckJobFile(std::string_view text, const std::string& job_uid);

// Returns the inner text of a file that was read as the job file of `job_uid`. DATA_LOSS says that the file is damaged
// or belongs to another job, and what to do. FAILED_PRECONDITION says that a newer release made the file (see
// IsOfNewerRelease), and what to install.
absl::StatusOr<std::string> DecodeJobFile(std::string_view text, const std::string& job_uid);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_FRAMED_JOB_FILE_H_
