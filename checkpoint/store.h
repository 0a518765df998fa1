// Checkpoints in a folder or bucket, through a StoreBackend. Whole or invisible: a shard gets its name only when its
// bytes are durable and match it; a manifest is written last, and only when every shard it names is there.
//
//   <root>/<job uid>/shards/<xxh3-128>.safetensors
//   <root>/<job uid>/manifests/<generation>-<step>-<writer>.json
//   <root>/<job uid>/job.json                                what is needed to go on with the job (job_file.h)
//   <root>/<job uid>/generations/<number>                    that generation began from a checkpoint
//   <root>/<job uid>/pins/<generation>-<step>-<writer>       pinned: never collected
//   <root>/<job uid>/removed/<manifest's name>               its copy while a collection decides (store_collect.cc)
//   <either>.tmp-...   unfinished, in a folder only; never read, collected after the grace
//   <shard>.used       put again at the time of this object, in a bucket only
//   <root>/<job uid>/condemned/<unique>     names of shards that a collection is removing
//
// Many processes may use one root at the same time; nothing here relies on locks. Job uids, shard and manifest names
// are checked before they become paths (INVALID_ARGUMENT), so nothing outside of the root is ever touched.
//
// Thread-safe. Errors of the file system come through as they are (common/file.h).
#ifndef REKINDLE_CHECKPOINT_STORE_H_
#define REKINDLE_CHECKPOINT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/job_file.h"
#include "checkpoint/manifest.h"
#include "checkpoint/retention.h"
#include "checkpoint/store_backend.h"
#include "common/file.h"

namespace rekindle::checkpoint {

struct StoredCheckpoint {
  std::string name;
  Manifest manifest;    // Empty when it cannot be read.
  int64_t bytes = 0;    // Of its shards.
  double written = 0;   // Unix seconds.
  std::string problem;  // Empty: the manifest is sound and every shard there, with its size. (Content: Verify.)
  bool of_newer_release = false;  // The problem is that: it may be whole, and its shards are not known.
};

struct Pin {
  std::string why;
  double when = 0;  // Unix seconds.
};

struct Collected {
  std::vector<Verdict> verdicts;       // Of every checkpoint, newest first.
  std::vector<std::string> manifests;  // Of them, those that went.
  int shards = 0;
  int temporary = 0;
  int64_t bytes = 0;
};

// Asked at most once, and only where the shard is not there yet; it stays valid for the call.
using ShardContent = std::function<absl::StatusOr<std::span<const uint8_t>>()>;

class Store {
 public:
  static constexpr double kGraceSeconds = 3600;

  // `grace_seconds`: how long a file that no manifest names is kept, since it may belong to a checkpoint on its way.
  // For a store by its URI see store_uri.h.
  explicit Store(std::shared_ptr<StoreBackend> backend, double grace_seconds = kGraceSeconds)
      : backend_(std::move(backend)), grace_seconds_(grace_seconds) {}
  // In a folder; `fs` must outlive it.
  Store(common::FileSystem& fs, std::string root, double grace_seconds = kGraceSeconds);

  // Copies `content`, of `bytes` bytes, to the shard named `xxh3` and returns when they are durable (their name is so
  // with the manifest); at once when it is there and whole. Content that changes meanwhile is DATA_LOSS and never gets
  // the name. The ref's generation, index and count are the caller's to fill in.
  absl::StatusOr<ShardRef> PutShard(const std::string& job_uid, const ShardContent& content, int64_t bytes,
                                    const std::string& xxh3);

  // Durable on return; gives the manifest's name. Repeating it is harmless. NOT_FOUND or DATA_LOSS: a shard is missing
  // or has another size. FAILED_PRECONDITION: the store knows of a newer generation. ABORTED: another process
  // is collecting one of its shards, which this checkpoint can therefore not count on; the next one has others.
  // `job` is durable before the manifest. INVALID_ARGUMENT: it is not the job's. ABORTED also: one is required, none
  // is given and none is there.
  absl::StatusOr<std::string> PutManifest(const Manifest& manifest, const JobFile& job = {});

  // Replaces job.json, durable on return. `generation`: the writer's. FAILED_PRECONDITION: the store knows of a newer
  // one, and nothing was written; or that one has begun meanwhile, and writes it again with its next checkpoint.
  // INVALID_ARGUMENT: the text is not that job's (CheckJobFile).
  absl::Status PutJobFile(const std::string& job_uid, int generation, const std::string& text);
  // Its inner text, the JSON of a v1.JobFile. NOT_FOUND: there is none. DATA_LOSS, FAILED_PRECONDITION: DecodeJobFile.
  absl::StatusOr<std::string> ReadJobFile(const std::string& job_uid);
  absl::StatusOr<bool> HasJobFile(const std::string& job_uid);

  // That generation is about to begin from a checkpoint: older ones save and collect nothing any more. Durable on
  // return; repeating it is harmless. FAILED_PRECONDITION: a higher one has begun, and this one must not.
  absl::Status BeginGeneration(const std::string& job_uid, int generation);
  // The highest that has begun from a checkpoint; 0: none has.
  absl::StatusOr<int> HighestGeneration(const std::string& job_uid);
  // The highest that has begun from a checkpoint or has saved one; 0: none has.
  absl::StatusOr<int> NewestGeneration(const std::string& job_uid);

  // From the newest manifest down to the first that `look` is content with. An error only when the store itself cannot
  // be listed: "none" is never said of a store that could not be read. With a name in `look` one that is not there, or
  // cannot be read, ends the search (Newest::missing): only damage makes an older one count.
  // FAILED_PRECONDITION, with what to install: a newer release made a manifest on the way.
  absl::StatusOr<Newest> FindNewest(const std::string& job_uid, const Look& look = {.verify = true});

  // By size only.
  bool Contains(const std::string& job_uid, const ShardRef& ref);
  // Newest first, by their names alone: whole or not.
  absl::StatusOr<std::vector<ManifestName>> ListNames(const std::string& job_uid) { return Names(job_uid, nullptr); }
  // Newest first, by manifests and sizes only.
  absl::StatusOr<std::vector<StoredCheckpoint>> List(const std::string& job_uid);
  absl::StatusOr<std::vector<std::string>> ListJobs();

  // NOT_FOUND, DATA_LOSS or INVALID_ARGUMENT when it is not there or not what its name says.
  absl::StatusOr<Manifest> ReadManifest(const std::string& job_uid, const std::string& name);

  // Reads the shard, hands it on piece by piece, and fails with DATA_LOSS when it is not whole (the pieces given are
  // worthless then). A sink's error ends it. `into` (optional): memory for it, at a multiple of kBlockBytes. A piece
  // may then lie in its place there already.
  using Sink = StoreBackend::Sink;
  absl::Status ReadShard(const std::string& job_uid, const ShardRef& ref, const Sink& sink, uint8_t* into = nullptr);
  // The whole of it.
  absl::Status ReadShard(const std::string& job_uid, const ShardRef& ref, std::vector<uint8_t>* content);

  // OK when the checkpoint is whole, byte for byte. `progress` (optional) is called after each shard.
  using Progress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
  absl::Status Verify(const std::string& job_uid, const std::string& name, const Progress& progress = nullptr);

  // As PutManifest, of a checkpoint that has been complete elsewhere: it may be older than what is here.
  absl::StatusOr<std::string> PutCopiedManifest(const Manifest& manifest);
  // Whether this very manifest is here, and every shard of it with its size.
  absl::StatusOr<bool> HasCopy(const Manifest& manifest);

  // A pinned checkpoint is never collected, whoever else works on the store: NOT_FOUND or DATA_LOSS when it is not
  // whole (by sizes) after the pin was written, which is then taken back. Pinning again replaces the reason.
  absl::Status PutPin(const std::string& job_uid, const std::string& name, const Pin& pin);
  // OK when there is none.
  absl::Status RemovePin(const std::string& job_uid, const std::string& name);
  // Names of pinned checkpoints, whether these are there or not.
  absl::StatusOr<std::set<std::string>> Pinned(const std::string& job_uid);
  // NOT_FOUND; a pin that cannot be read has no reason and is one all the same.
  absl::StatusOr<Pin> ReadPin(const std::string& job_uid, const std::string& name);

  // What `retention` and the pins keep stays, as do files with foreign names. The rest goes: manifests, the shards that
  // only those named, and unnamed shards and temporary files older than the grace. `now` is Unix time. Safe beside a
  // writer, beside who pins and beside another collection, as long as these take less than the grace.
  // What is due to be archived goes when `archive` has it whole; without `archive` it stays.
  // FAILED_PRECONDITION, and nothing is done, beside a manifest of a newer release: which shards it names is not known;
  // or where a generation after that of `options` has begun.
  struct CollectOptions {
    Store* archive = nullptr;
    int generation = 0;    // That collects; 0: a user.
    bool dry_run = false;  // Only tell what would go.
  };
  absl::StatusOr<Collected> Collect(const std::string& job_uid, const Retention& retention, double now,
                                    const CollectOptions& options);
  absl::StatusOr<Collected> Collect(const std::string& job_uid, const Retention& retention, double now) {
    return Collect(job_uid, retention, now, CollectOptions());
  }
  // The named checkpoints and the shards that only they name. FAILED_PRECONDITION, and nothing is done, for one that is
  // pinned, or the newest that is whole, unless by `force`, and beside one of a newer release that is not named itself;
  // NOT_FOUND.
  absl::StatusOr<Collected> Remove(const std::string& job_uid, const std::vector<std::string>& names, bool force,
                                   double now);

 private:
  static std::string Shards(const std::string& job_uid) { return job_uid + "/shards"; }
  static std::string Manifests(const std::string& job_uid) { return job_uid + "/manifests"; }
  static std::string JobPath(const std::string& job_uid) { return job_uid + "/job.json"; }
  static std::string Generations(const std::string& job_uid) { return job_uid + "/generations"; }
  static std::string Pins(const std::string& job_uid) { return job_uid + "/pins"; }
  static std::string Removed(const std::string& job_uid) { return job_uid + "/removed"; }
  static std::string Condemned(const std::string& job_uid) { return job_uid + "/condemned"; }

  // Newest first; `foreign` gets what has no checkpoint's name.
  absl::StatusOr<std::vector<ManifestName>> Names(const std::string& job_uid, std::vector<std::string>* foreign);
  bool IsThere(const std::string& job_uid, const ShardRef& ref);
  absl::Status CheckPresent(const std::string& job_uid, const Manifest& manifest);
  absl::Status CheckSpared(const Manifest& manifest);
  // What FindNewest asks of each. `damaged`: it is there, and is not what its name says.
  absl::StatusOr<Manifest> LookAt(const std::string& job_uid, const std::string& name, const Look& look, bool* damaged);
  absl::Status VerifyShards(const std::string& job_uid, const Manifest& manifest, const Progress& progress);
  absl::StatusOr<std::string> WriteManifest(const Manifest& manifest, const JobFile& job);
  absl::Status PutBeside(const Manifest& manifest, const JobFile& job);
  // FAILED_PRECONDITION: a higher one has begun.
  absl::Status CheckGeneration(const std::string& job_uid, int generation);
  // FAILED_PRECONDITION: a higher one has begun, or has saved.
  absl::Status CheckNewest(const std::string& job_uid, int generation);
  absl::Status ForgetGenerations(const std::string& job_uid);

  // A collection on its way (store_collect.cc).
  struct Sweep;
  absl::Status Recover(const std::string& job_uid);
  absl::Status RemoveManifests(Sweep& sweep);
  absl::Status PutBackPinned(Sweep& sweep);
  absl::Status FindOrphans(Sweep& sweep);
  absl::StatusOr<std::set<std::string>> NamedSince(const Sweep& sweep);
  absl::Status RemoveOrphans(Sweep& sweep);
  absl::Status RemoveOld(const std::string& folder, const std::function<bool(const std::string&)>& which, Sweep& sweep);
  absl::Status Run(Sweep& sweep);

  std::shared_ptr<StoreBackend> backend_;
  double grace_seconds_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_H_
