#include "checkpoint/store/store.h"

#include "checkpoint/backends/file_backend.h"

namespace rekindle::checkpoint {

Store::Store(common::FileSystem& fs, std::string root, double grace_seconds)
    : Store(std::make_shared<FileBackend>(fs, std::move(root)), grace_seconds) {}

absl::StatusOr<std::vector<std::string>> Store::ListJobs() {
  auto names = backend_->List("");
  if (!names.ok()) return names.status();
  std::vector<std::string> jobs;
  for (const std::string& name : *names) {
    if (IsSafeName(name) && backend_->HasFolder(In(name).Manifests())) jobs.push_back(name);
  }
  return jobs;
}

absl::Status Store::Verify(const std::string& job_uid, const std::string& name, const Progress& progress) {
  const auto manifest = ReadManifest(job_uid, name);
  if (!manifest.ok()) return manifest.status();
  return JobShards(In(job_uid)).Verify(manifest->shards, progress);
}

absl::StatusOr<Collected> Store::Collect(const std::string& job_uid, const Retention& retention, double now,
                                         const CollectOptions& options) {
  Collector::Options chosen{.generation = options.generation, .dry_run = options.dry_run};
  if (options.archive != nullptr) {
    chosen.is_archived = [archive = options.archive](const Manifest& manifest) { return archive->HasCopy(manifest); };
  }
  return Collector(In(job_uid), grace_seconds_).Collect(retention, now, chosen);
}

}  // namespace rekindle::checkpoint
