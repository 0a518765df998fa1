// Declares the trainer's side of the checkpoint service. This header includes neither torch nor protobuf.
//
//   auto client = CheckpointClient::Create({.socket = dir + "/checkpoint.sock", .store = "file:///ckpt", ...});
//   // Every rank does this off the training path. Stage may run before the step to save:
//   auto staged = client->Stage({generation, step, total}, ShardsOf(CutShards(total, world_size), rank));
//   (*staged)->Copy(state);     // Only this part reads the state: one pass of split, copy and hash.
//   (*staged)->refs();          // These go to the committer (EncodeShardRef, AllGather).
//   (*staged)->Commit();        // This is slow: it returns when the shards are durable in the store.
//   // The committer does this with the refs of all ranks:
//   client->WriteManifest(manifest, job_file, retention, /*wait_seconds=*/60);
//
// Every call has a deadline. While the service is away or being restarted, calls retry by themselves for at most
// `patience_seconds` and then fail with UNAVAILABLE, which names the socket. Errors of the store are passed on as the
// service saw them: RESOURCE_EXHAUSTED (disk full or staging memory full), PERMISSION_DENIED, INVALID_ARGUMENT,
// DATA_LOSS and others. None of them is a reason to stop training.
//
// The client is thread-safe.
#ifndef REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_
#define REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/client/client_options.h"
#include "checkpoint/client/staged_shards.h"
#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/format/state_shards.h"

namespace rekindle::checkpoint {

struct ServiceInfo {
  std::string incarnation;
  double staged_bytes = 0;
};

struct Restored {
  Manifest manifest;
  // `exact` says that every bit of the state is as it was saved.
  bool exact = false;
  // `bytes_from` counts the bytes by where they were read: "memory", "peer" or "store".
  std::map<std::string, int64_t> bytes_from;
};

// Takes the planes of a shard, as ReadPlanes() does. The second plane is empty unless the checkpoint is exact.
using ReadShard =
    std::function<absl::StatusOr<ReadState>(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1)>;

class CheckpointClient {
 public:
  // Creates a client that connects when it is first used, so it succeeds without a service. Returns INVALID_ARGUMENT
  // for an empty or unsafe field.
  static absl::StatusOr<std::unique_ptr<CheckpointClient>> Create(ClientOptions options);
  virtual ~CheckpointClient() = default;

  // Reserves shared memory for the shards `ranges` of the state. A rank without shards may pass no ranges.
  virtual absl::StatusOr<std::unique_ptr<StagedShards>> Stage(const SnapshotKey& snapshot,
                                                              const std::vector<ShardRange>& ranges) = 0;

  // Commits the checkpoint and returns its name when it is durable. The client fills in job_uid and writer of the
  // manifest. If shards of other ranks are not in the store yet, the call waits for at most `wait_seconds`. Then
  // NOT_FOUND names a missing one. FAILED_PRECONDITION says that the store has a newer generation, so this trainer has
  // been left out. `job_file` becomes durable before the manifest. ABORTED says that a job file is required, the caller
  // passes none, and the store has none. Afterwards the checkpoints that `retention` does not keep are collected.
  virtual absl::StatusOr<std::string> WriteManifest(Manifest manifest, const JobFile& job_file,
                                                    const Retention& retention, double wait_seconds) = 0;

  // Lets all nodes know a checkpoint whose shards their services hold in memory, so that it can be restored from there.
  // Nothing is written to the store. Returns FAILED_PRECONDITION if the nodes know of a newer generation.
  virtual absl::Status KeepManifest(Manifest manifest) = 0;

  // Replaces the store's job.json without writing a checkpoint. `generation` is the generation of the caller. The call
  // takes at most `seconds`. FAILED_PRECONDITION means the same as for WriteManifest.
  virtual absl::Status WriteJobFile(int generation, const std::string& text, double seconds) = 0;

  // Returns the store's whole job.json after verifying it. NOT_FOUND says that there is no job.json. DATA_LOSS and
  // FAILED_PRECONDITION are those of DecodeJobFile.
  virtual absl::StatusOr<std::string> ReadJobFile() = 0;

  // Finds the job's newest checkpoint of which every shard is there with its size. With `verify` the search also checks
  // every byte, as Restore would do later.
  virtual absl::StatusOr<SearchResult> FindNewest(bool verify) = 0;

  // Looks for the checkpoint `name` alone. If its bytes are damaged, the next older good one is found. If the
  // checkpoint is not there, nothing is found and SearchResult::missing says why.
  virtual absl::StatusOr<SearchResult> FindNamed(const std::string& name, bool verify) = 0;

  // Reads every shard of the manifest `name`, which is one of a state of `total` elements, and verifies each shard
  // again as it is read. `read` may be called by several threads at once. Returns its first error, or DATA_LOSS if the
  // shards do not cover the state.
  virtual absl::StatusOr<Restored> RestoreShards(int generation, const std::string& name, int64_t total,
                                                 const ReadShard& read) = 0;
  // Fills `state` from every shard of the manifest `name`. If `state` wants only some ranges of the moments, only those
  // are filled. After an error the content of `state` is undefined.
  absl::StatusOr<Restored> Restore(int generation, const std::string& name, const MutableState& state);

  virtual absl::StatusOr<ServiceInfo> GetInfo() = 0;

  // Ends pending and later calls of the client with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_
