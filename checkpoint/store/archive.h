// Copies checkpoints between two stores of one job: to a cold store and back.
#ifndef REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_
#define REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"

namespace rekindle::checkpoint {

// The copy calls this before each shard. If it returns false, the copy ends with CANCELLED. The next copy finds what
// was copied until then.
using CopyProgress = std::function<bool(int64_t done_bytes, int64_t total_bytes)>;
// The copy calls this before it writes a shard of `bytes` bytes. Its error ends the copy and becomes the copy's result.
using CopyRoom = std::function<absl::Status(int64_t bytes)>;

// Copies a checkpoint. Every shard is hashed as it is read and as it is written. A shard that is there and whole is not
// written again, so an interrupted copy can continue. The manifest comes last. At most one shard (64 MiB) is in memory.
// DATA_LOSS and NOT_FOUND say that the checkpoint is not whole in `from`.
absl::Status CopyCheckpoint(Store& from, Store& to, const std::string& job_uid, const std::string& name,
                            const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

struct Archived {
  std::vector<std::string> copied;
  // `problems` has entries "name: why it was not copied". Such a checkpoint stays where it is.
  std::vector<std::string> problems;
  Collected collected;
};

// Copies the checkpoints that are due by `retention`, and then collects. Checkpoints that `archive` has whole leave
// `hot`, and those that `retention` removes leave it too.
absl::StatusOr<Archived> ArchiveDue(Store& hot, Store& archive, const std::string& job_uid, const Retention& retention,
                                    double now, const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

// Checks the archive of a job whose store has nothing to restore. If the archive has a checkpoint, it returns
// FAILED_PRECONDITION with the name and the command that brings it back. It is an error if the archive cannot be read.
absl::Status CheckNotInArchive(Store& archive, const std::string& archive_uri, const std::string& job_uid);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_
