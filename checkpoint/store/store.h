// Stores checkpoints in a folder or bucket, through a StoreBackend. A checkpoint is whole or invisible. A shard gets
// its name only when its bytes are durable and match the name. A manifest is written last, and only when every shard
// that it names is there. checkpoint/job/job_folder.h shows what lies where.
//
// Many processes may use one root at the same time, and the store does not rely on locks. Job uids and the names of
// shards and manifests are checked before they become paths (INVALID_ARGUMENT), so nothing outside of the root is ever
// touched.
//
// The class is thread-safe. Errors of the file system are passed on unchanged (common/files/file.h).
#ifndef REKINDLE_CHECKPOINT_STORE_STORE_H_
#define REKINDLE_CHECKPOINT_STORE_STORE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/backends/store_backend.h"
#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/job/checkpoint_writer.h"
#include "checkpoint/job/collector.h"
#include "checkpoint/job/generation_marks.h"
#include "checkpoint/job/job_checkpoints.h"
#include "checkpoint/job/job_folder.h"
#include "checkpoint/job/job_manifests.h"
#include "checkpoint/job/job_shards.h"
#include "checkpoint/job/pins.h"
#include "checkpoint/job/stored_job_file.h"
#include "checkpoint/store/stored_bundle.h"
#include "common/files/file.h"

namespace rekindle::checkpoint {

// Stores the checkpoints of many jobs. Each method does its work in the folder of one job, and has the contract of the
// method in checkpoint/job that it calls.
class Store {
 public:
  static constexpr double kGraceSeconds = 3600;
  using Sink = JobShards::Sink;
  using Progress = JobShards::Progress;

  // A file that no manifest names is kept for `grace_seconds`, because it may belong to a checkpoint that is being
  // written. store_opener.h opens a store by its URI.
  explicit Store(std::shared_ptr<StoreBackend> backend, double grace_seconds = kGraceSeconds)
      : backend_(std::move(backend)), grace_seconds_(grace_seconds) {}
  // Uses a store in a folder of the file system `fs`, which must outlive the Store.
  Store(common::FileSystem& fs, std::string root, double grace_seconds = kGraceSeconds);

  // Returns the uids of the jobs that have manifests.
  absl::StatusOr<std::vector<std::string>> ListJobs();

  absl::StatusOr<ShardRef> PutShard(const std::string& job_uid, const ShardContent& content, int64_t bytes,
                                    const std::string& xxh3) {
    return JobShards(In(job_uid)).Put(content, bytes, xxh3);
  }
  bool Contains(const std::string& job_uid, const ShardRef& ref) { return JobShards(In(job_uid)).Contains(ref); }
  absl::Status ReadShard(const std::string& job_uid, const ShardRef& ref, const Sink& sink, uint8_t* into = nullptr) {
    return JobShards(In(job_uid)).Read(ref, sink, into);
  }
  absl::Status ReadShard(const std::string& job_uid, const ShardRef& ref, std::vector<uint8_t>* content) {
    return JobShards(In(job_uid)).Read(ref, content);
  }

  absl::StatusOr<std::vector<ManifestName>> ListNames(const std::string& job_uid) {
    return JobManifests(In(job_uid)).Names();
  }
  absl::StatusOr<Manifest> ReadManifest(const std::string& job_uid, const std::string& name) {
    return JobManifests(In(job_uid)).Read(name);
  }

  absl::StatusOr<std::string> PutManifest(const Manifest& manifest, const JobFile& job = {}) {
    return CheckpointWriter(In(manifest.job_uid)).Put(manifest, job);
  }
  absl::StatusOr<std::string> PutCopiedManifest(const Manifest& manifest) {
    return CheckpointWriter(In(manifest.job_uid)).PutCopy(manifest);
  }

  absl::Status PutJobFile(const std::string& job_uid, int generation, const std::string& text) {
    return StoredJobFile(In(job_uid)).Put(generation, text);
  }
  absl::StatusOr<std::string> ReadJobFile(const std::string& job_uid) { return StoredJobFile(In(job_uid)).Read(); }

  absl::StatusOr<bool> HasBundle(const std::string& job_uid, const std::string& address) {
    return StoredBundle(In(job_uid)).IsThere(address);
  }
  absl::StatusOr<std::vector<std::string>> ListBundles(const std::string& job_uid) {
    return StoredBundle(In(job_uid)).Addresses();
  }
  absl::Status PutBundle(const std::string& job_uid, const std::string& address, const std::string& packed) {
    return StoredBundle(In(job_uid)).Put(address, packed);
  }
  absl::StatusOr<std::string> ReadBundle(const std::string& job_uid, const std::string& address) {
    return StoredBundle(In(job_uid)).Read(address);
  }

  absl::Status BeginGeneration(const std::string& job_uid, int generation) {
    return GenerationMarks(In(job_uid)).Begin(generation);
  }
  absl::StatusOr<int> NewestGeneration(const std::string& job_uid) { return GenerationMarks(In(job_uid)).Newest(); }

  absl::StatusOr<SearchResult> FindNewest(const std::string& job_uid, const SearchOptions& options = {.verify = true}) {
    return JobCheckpoints(In(job_uid)).FindNewest(options);
  }
  absl::StatusOr<std::vector<StoredCheckpoint>> List(const std::string& job_uid) {
    return JobCheckpoints(In(job_uid)).List();
  }
  absl::StatusOr<bool> HasCopy(const Manifest& manifest) {
    return JobCheckpoints(In(manifest.job_uid)).HasCopy(manifest);
  }
  // Returns OK if the checkpoint is whole, byte for byte. `progress` is optional and called after each shard.
  absl::Status Verify(const std::string& job_uid, const std::string& name, const Progress& progress = nullptr);

  absl::Status PutPin(const std::string& job_uid, const std::string& name, const Pin& pin) {
    return Pins(In(job_uid)).Put(name, pin);
  }
  absl::Status RemovePin(const std::string& job_uid, const std::string& name) { return Pins(In(job_uid)).Remove(name); }
  absl::StatusOr<std::set<std::string>> Pinned(const std::string& job_uid) { return Pins(In(job_uid)).Names(); }
  absl::StatusOr<Pin> ReadPin(const std::string& job_uid, const std::string& name) {
    return Pins(In(job_uid)).Read(name);
  }

  // Holds the options of Collect(). Checkpoints that are due to be archived are removed if `archive` has them whole.
  // Without `archive` they stay.
  struct CollectOptions {
    Store* archive = nullptr;
    int generation = 0;
    bool dry_run = false;
  };
  absl::StatusOr<Collected> Collect(const std::string& job_uid, const Retention& retention, double now,
                                    const CollectOptions& options);
  absl::StatusOr<Collected> Collect(const std::string& job_uid, const Retention& retention, double now) {
    return Collect(job_uid, retention, now, CollectOptions());
  }
  absl::StatusOr<Collected> Remove(const std::string& job_uid, const std::vector<std::string>& names, bool force,
                                   double now) {
    return Collector(In(job_uid), grace_seconds_).Remove(names, force, now);
  }

 private:
  JobFolder In(const std::string& job_uid) { return JobFolder(*backend_, job_uid); }

  std::shared_ptr<StoreBackend> backend_;
  double grace_seconds_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_STORE_H_
