// job.json: what a coordinator that has no record of a job needs to go on with it, kept beside the job's checkpoints.
//
//   {"xxh3":"<that of the inner text>","job":{"format":1,"job_uid":"...", ...}} and a newline, in UTF-8
//
// The inner text is the JSON of a v1.JobFile. The coordinator makes it (coordinator/core/job_file.h), rank 0 fetches
// it, and the checkpoint service writes it as it is. So nobody on the way need know what is in it, and an older release
// there loses nothing of a newer one's.
//
// Functions of their arguments alone; free of protobuf.
#ifndef REKINDLE_CHECKPOINT_JOB_FILE_H_
#define REKINDLE_CHECKPOINT_JOB_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

inline constexpr int kJobFileFormat = 1;
inline constexpr size_t kMaxJobFileBytes = 64 << 10;  // Of the whole file.
inline constexpr int kMostStoredJobs = 8;             // One node tells of so many jobs what their stores have.

// What is to lie beside a checkpoint.
struct JobFile {
  std::string text;       // As FrameJobFile makes it; empty: what is there stays.
  bool required = false;  // No checkpoint becomes durable beside none.
};

// The file around `inner`.
std::string FrameJobFile(std::string_view inner);

// May `text` be written as that job's? It is in its frame, no larger than it may be, strict JSON and names the job; its
// format may be a newer one. INVALID_ARGUMENT says what is wrong.
absl::Status CheckJobFile(std::string_view text, const std::string& job_uid);

// The inner text of a file that was read as that job's. DATA_LOSS: it is damaged, or of another job, with what to do.
// FAILED_PRECONDITION: a newer release made it (IsOfNewerRelease), with what to install.
absl::StatusOr<std::string> DecodeJobFile(std::string_view text, const std::string& job_uid);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_FILE_H_
