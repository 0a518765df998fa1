// Copies checkpoints of a job between two stores: to a cold store, its archive, and back.
#ifndef REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_
#define REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"

namespace rekindle::checkpoint {

// A `CopyProgress` is called before each shard is copied. If it returns false, the copy ends with CANCELLED. The next
// copy finds the shards that were copied until then.
using CopyProgress = std::function<bool(int64_t done_bytes, int64_t total_bytes)>;
// A `CopyRoom` is called before a copy writes a shard of `bytes` bytes. If it returns an error, the copy ends with that
// error.
using CopyRoom = std::function<absl::Status(int64_t bytes)>;

// Copies a checkpoint from one store to another. Every shard is hashed as it is read and as it is written. A shard that
// is there and whole is not written again, so an interrupted copy can continue. The job's bundles of code are copied as
// well, unless they are there. The manifest comes last. At most one shard or bundle (64 MiB) is in memory. DATA_LOSS
// and NOT_FOUND say that the checkpoint is not whole in `from`.
absl::Status CopyCheckpoint(Store& from, Store& to, const std::string& job_uid, const std::string& name,
                            const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

struct Archived {
  std::vector<std::string> copied;
  // `problems` has entries "name: why it was not copied". A checkpoint with a problem stays where it is.
  std::vector<std::string> problems;
  Collected collected;
};

// Copies the checkpoints that are due to be archived by `retention`, and then collects. From `hot` the function removes
// the checkpoints that are due and that `archive` has whole, and those that `retention` does not keep.
absl::StatusOr<Archived> ArchiveDue(Store& hot, Store& archive, const std::string& job_uid, const Retention& retention,
                                    double now, const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

// Checks the archive of a job whose store has nothing to restore. If the archive has a checkpoint, the function returns
// FAILED_PRECONDITION with the checkpoint's name and the command that brings it back. It is an error if the archive
// cannot be read.
absl::Status CheckNotInArchive(Store& archive, const std::string& archive_uri, const std::string& job_uid);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_ARCHIVE_H_
