// Checkpoints between two stores of one job: to a cold one, and back.
#ifndef REKINDLE_CHECKPOINT_ARCHIVE_H_
#define REKINDLE_CHECKPOINT_ARCHIVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {

// Called before each shard; false: give up (CANCELLED). What was copied until then is found the next time.
using CopyProgress = std::function<bool(int64_t done_bytes, int64_t total_bytes)>;
// Asked before a shard of so many bytes is written. An error ends the copy, and is the copy's.
using CopyRoom = std::function<absl::Status(int64_t bytes)>;

// Every shard is hashed as it is read and as it is written; one that is there and whole is not written again, so a copy
// that was cut off goes on. The manifest comes last. At most one shard (64 MiB) is in memory.
// DATA_LOSS, NOT_FOUND: it is not whole in `from`.
absl::Status CopyCheckpoint(Store& from, Store& to, const std::string& job_uid, const std::string& name,
                            const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

struct Archived {
  std::vector<std::string> copied;
  std::vector<std::string> problems;  // "name: why it was not copied"; it stays where it is.
  Collected collected;
};

// Copies what `retention` says is due, then collects: what `archive` has whole leaves `hot`. What `retention` removes
// goes too.
absl::StatusOr<Archived> ArchiveDue(Store& hot, Store& archive, const std::string& job_uid, const Retention& retention,
                                    double now, const CopyProgress& progress = nullptr, const CopyRoom& room = nullptr);

// For a job whose store has nothing to restore: FAILED_PRECONDITION, with the name and the command that brings it back,
// when its archive has something. An archive that cannot be read is an error.
absl::Status CheckNotInArchive(Store& archive, const std::string& archive_uri, const std::string& job_uid);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_ARCHIVE_H_
