// Records generations that began from a checkpoint. Each writes its number to the store before its first step. A
// process that saves or collects for an older generation looks for a higher number before and after its work. Buckets
// may lack a conditional put, so the order of operations keeps older generations out:
//   a new generation:     writes its number, then reads the checkpoint that it begins from
//   an older generation:  looks for numbers, then saves or collects, then looks again
// So either the older generation sees the number, or the new one sees the result of the older one's work.
#ifndef REKINDLE_CHECKPOINT_JOB_GENERATION_MARKS_H_
#define REKINDLE_CHECKPOINT_JOB_GENERATION_MARKS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// Writes and reads the numbers of generations. The class keeps no state of its own, so it is as thread-safe as the
// backend of its folder.
class GenerationMarks {
 public:
  explicit GenerationMarks(JobFolder folder) : folder_(std::move(folder)) {}

  // Records that the generation is about to begin from a checkpoint. After that, older generations can neither save nor
  // collect. The record is durable on return, and repeating the call is harmless. FAILED_PRECONDITION says that a
  // higher generation has begun, so this one must not begin.
  absl::Status Begin(int generation);
  // Returns the highest generation that has begun from a checkpoint, or 0 if none has.
  absl::StatusOr<int> Highest();
  // Returns the highest generation that has begun from a checkpoint or has saved a checkpoint, or 0 if none has.
  absl::StatusOr<int> Newest();

  // Returns FAILED_PRECONDITION if a higher generation has begun from a checkpoint.
  absl::Status Check(int generation);
  // Returns FAILED_PRECONDITION if a higher generation has begun from a checkpoint or has saved one.
  absl::Status CheckNewest(int generation);

  // Removes the numbers of all generations below the highest, because the highest says all that they do.
  absl::Status ForgetOld();

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_GENERATION_MARKS_H_
