#include "checkpoint/inspect.h"

#include <utility>

#include "checkpoint/store_uri.h"
#include "common/file.h"

namespace rekindle::checkpoint {
namespace {

absl::StatusOr<Store> OpenStore(const std::string& uri) {
  static StoreOpener* opener = new StoreOpener(*common::PosixFileSystem());
  return opener->Open(uri);
}

}  // namespace

absl::StatusOr<std::vector<CheckpointInfo>> ListCheckpoints(const std::string& store, const std::string& job_uid) {
  auto opened = OpenStore(store);
  if (!opened.ok()) return opened.status();
  const auto stored = opened->List(job_uid);
  if (!stored.ok()) return stored.status();
  std::vector<CheckpointInfo> infos;
  for (const StoredCheckpoint& checkpoint : *stored) {
    const auto name = ParseName(checkpoint.name);
    if (!name.ok()) return name.status();
    infos.push_back({.name = checkpoint.name,
                     .generation = name->generation,
                     .step = name->step,
                     .writer = name->writer,
                     .shards = static_cast<int>(checkpoint.manifest.shards.size()),
                     .bytes = checkpoint.bytes,
                     .written = checkpoint.written,
                     .problem = checkpoint.problem});
  }
  return infos;
}

absl::StatusOr<std::vector<std::string>> ListCheckpointJobs(const std::string& store) {
  auto opened = OpenStore(store);
  if (!opened.ok()) return opened.status();
  return opened->ListJobs();
}

absl::Status VerifyCheckpoint(const std::string& store, const std::string& job_uid, const std::string& name,
                              const std::function<void(int64_t, int64_t)>& progress) {
  auto opened = OpenStore(store);
  if (!opened.ok()) return opened.status();
  return opened->Verify(job_uid, name, progress);
}

}  // namespace rekindle::checkpoint
