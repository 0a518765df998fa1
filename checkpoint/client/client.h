// This file is the trainer's side of the checkpoint service. It is free of torch and protobuf headers.
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
// The client is thread-safe, but only one thread at a time may use a StagedShards, except for its Copy.
#ifndef REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_
#define REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/format/state_shards.h"

namespace rekindle::checkpoint {

struct ClientOptions {
  // `socket` is <node dir>/checkpoint.sock.
  std::string socket;
  // `store` is a folder or a bucket (common/objects/object_uri.h).
  std::string store;
  // `archive_store` is empty if there is no archive. If it has a checkpoint of the job, FindNewest fails rather than
  // find nothing.
  std::string archive_store;
  std::string job_uid;
  // `trainer` becomes the manifest's writer.
  std::string trainer;
  // A call waits for `patience_seconds` for the service to come back.
  double patience_seconds = 10;
  // One shard has `commit_seconds` to become durable or to be restored.
  double commit_seconds = 300;
  // If `allow_nonfinite` is set, states with NaN or infinities are saved.
  bool allow_nonfinite = false;
  // If `exact_only` is set, FindNewest passes over checkpoints from which not every bit can be restored.
  bool exact_only = false;
};

// Identifies a snapshot and says how to treat it.
struct SnapshotKey {
  int generation = 0;
  int step = 0;
  // `total` is the number of elements of the state.
  int64_t total = 0;
  Precision precision = Precision::kExact;
  // `urgent` says that training waits for the snapshot, so its shards are not written at low priority.
  bool urgent = false;
};

// Holds one rank's shards between Stage and Commit, in shared memory that the service bounds. Destroying it gives the
// memory back. It must not outlive its client.
class StagedShards {
 public:
  virtual ~StagedShards() = default;
  // Splits, copies and hashes the state. It makes no allocation of the state's size. It makes no RPC, except once in a
  // process if a state has more exceptions (planes.h) than room was reserved for. On return the caller may change the
  // state. FAILED_PRECONDITION says that the state has NaN or infinities and the options do not allow them. Copied
  // shards are already on their way to the store while the next ones are being copied. Any number of threads may call
  // it with the same state. Each thread takes shards that no other has begun. All return with the same status when
  // nobody copies any more.
  virtual absl::Status Copy(const StateView& state) = 0;
  // Returns the refs of all shards, first all of plane 0, then all of plane 1. They are valid after Copy.
  virtual const std::vector<ShardRef>& refs() const = 0;
  // Returns when all shards are durable. Among the waiting planes, plane 0 goes first. If the service was restarted in
  // between, the shards are sent again.
  virtual absl::Status Commit() = 0;
  // Returns for how many seconds the writes stood still because training had the processors. It is 0 for urgent
  // snapshots. The caller must call it after Commit.
  virtual double held_up_seconds() const = 0;
};

struct ServiceInfo {
  std::string incarnation;
  double staged_bytes = 0;
};

struct Restored {
  Manifest manifest;
  // `exact` says that every bit is as it was saved.
  bool exact = false;
  // The keys of `bytes_from` are "memory", "peer" and "store".
  std::map<std::string, int64_t> bytes_from;
};

class CheckpointClient {
 public:
  // Creates a client that connects lazily, so it succeeds without a service. Returns INVALID_ARGUMENT for an empty or
  // unsafe field.
  static absl::StatusOr<std::unique_ptr<CheckpointClient>> Create(ClientOptions options);
  virtual ~CheckpointClient() = default;

  // Reserves shared memory for `ranges` of the state. A rank without shards may pass no ranges.
  virtual absl::StatusOr<std::unique_ptr<StagedShards>> Stage(const SnapshotKey& snapshot,
                                                              const std::vector<ShardRange>& ranges) = 0;

  // Commits the checkpoint and returns its name when it is durable. It fills in job_uid and writer. If shards of other
  // ranks are not in the store yet, it waits for at most `wait_seconds`. Then NOT_FOUND names a missing one.
  // FAILED_PRECONDITION says that the store has a newer generation, so this trainer has been left out. `job_file` is
  // durable before the manifest. ABORTED says that a job file is required, the caller passes none, and the store has
  // none. Afterwards the checkpoints that `retention` does not keep are collected.
  virtual absl::StatusOr<std::string> WriteManifest(Manifest manifest, const JobFile& job_file,
                                                    const Retention& retention, double wait_seconds) = 0;

  // Replaces the store's job.json without a checkpoint, as a writer of that generation. It takes at most `seconds`.
  // FAILED_PRECONDITION means the same as for WriteManifest.
  virtual absl::Status WriteJobFile(int generation, const std::string& text, double seconds) = 0;

  // Returns the store's whole job.json after verifying it. NOT_FOUND says that there is none. DATA_LOSS and
  // FAILED_PRECONDITION are those of DecodeJobFile.
  virtual absl::StatusOr<std::string> ReadJobFile() = 0;

  // Finds the newest checkpoint of the job of which every shard is there with its size. With `verify` it also checks
  // every byte, as Restore would do later.
  virtual absl::StatusOr<SearchResult> FindNewest(bool verify) = 0;

  // Looks for the checkpoint `name` alone. If its bytes are damaged, the next older good one is found. If it is not
  // there, nothing is found and SearchResult::missing says why.
  virtual absl::StatusOr<SearchResult> FindNamed(const std::string& name, bool verify) = 0;

  // Fills `state` from every shard of the manifest `name`, and verifies each again as it is read. Only those moments
  // are filled that `state` wants. After an error the content of `state` is undefined. Returns INVALID_ARGUMENT if the
  // state's total differs.
  virtual absl::StatusOr<Restored> Restore(int generation, const std::string& name, const MutableState& state) = 0;

  virtual absl::StatusOr<ServiceInfo> GetInfo() = 0;

  // Ends pending and later calls with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_CLIENT_H_
