#include "checkpoint/job/checkpoint_writer.h"

#include "checkpoint/job/condemned_shards.h"
#include "checkpoint/job/generation_marks.h"
#include "checkpoint/job/job_shards.h"
#include "checkpoint/job/stored_job_file.h"

namespace rekindle::checkpoint {

absl::StatusOr<std::string> CheckpointWriter::Put(const Manifest& manifest, const JobFile& job) {
  GenerationMarks marks(folder_);
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  if (absl::Status status = marks.CheckNewest(manifest.generation); !status.ok()) return status;
  auto name = Write(manifest, job);
  if (!name.ok()) return name;
  // If a newer generation has begun while the manifest was written, the save fails. The written manifest does no harm:
  // its checkpoint is whole, and older than every checkpoint of the newer generation.
  if (absl::Status status = marks.Check(manifest.generation); !status.ok()) return status;
  return name;
}

absl::StatusOr<std::string> CheckpointWriter::PutCopy(const Manifest& manifest) {
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  return Write(manifest, {});
}

absl::StatusOr<std::string> CheckpointWriter::Write(const Manifest& manifest, const JobFile& job) {
  StoreBackend& backend = folder_.backend();
  if (absl::Status status = JobShards(folder_).CheckPresent(manifest.shards); !status.ok()) return status;
  if (absl::Status status = StoredJobFile(folder_).PutBeforeManifest(job); !status.ok()) return status;
  // Any process may have renamed the shards without syncing their names, so the names are synced first. A durable
  // manifest must not precede them.
  if (absl::Status status = backend.SyncFolder(folder_.Shards()); !status.ok()) return status;
  const std::string name = FormatName(NameOf(manifest));
  const std::string path = folder_.Manifest(name);
  const bool is_new = absl::IsNotFound(backend.Stat(path).status());
  if (absl::Status status = backend.Put(path, EncodeManifest(manifest)); !status.ok()) return status;
  if (absl::Status status = CondemnedShards(folder_).CheckSpared(manifest.shards); !status.ok()) {
    // A manifest that was in the store before this call may belong to a whole checkpoint, so it is not removed.
    if (is_new && (absl::IsAborted(status) || absl::IsNotFound(status))) backend.Remove(path).IgnoreError();
    return status;
  }
  return name;
}

}  // namespace rekindle::checkpoint
