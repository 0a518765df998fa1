// The trainer's side of the checkpoint service. Free of torch and protobuf headers.
//
//   auto client = CheckpointClient::Create({.socket = dir + "/checkpoint.sock", .store = "file:///ckpt", ...});
//   // Every rank, off the training path; may be done before the step to save:
//   auto staged = client->Stage({generation, step, total}, ShardsOf(CutShards(total, world_size), rank));
//   (*staged)->Copy(state);     // The only part that reads the state: one pass of split, copy and hash.
//   (*staged)->refs();          // To the committer (EncodeShardRef, AllGather).
//   (*staged)->Commit();        // Durable in the store: slow.
//   // The committer, with the refs of all ranks:
//   client->WriteManifest(manifest, job_file, retention, /*wait_seconds=*/60);
//
// Every call has a deadline and retries by itself while the service is away or being restarted, at most
// `patience_seconds`; then it fails with UNAVAILABLE, naming the socket. Errors of the store come as the service saw
// them: RESOURCE_EXHAUSTED (disk full or staging memory full), PERMISSION_DENIED, INVALID_ARGUMENT, DATA_LOSS ...
// None of them is a reason to stop training.
//
// Thread-safe, except that one StagedShards is used by one thread at a time.
#ifndef REKINDLE_CHECKPOINT_CLIENT_H_
#define REKINDLE_CHECKPOINT_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/job_file.h"
#include "checkpoint/manifest.h"
#include "checkpoint/planes.h"
#include "checkpoint/retention.h"
#include "checkpoint/state_shards.h"

namespace rekindle::checkpoint {

struct ClientOptions {
  std::string socket;  // <node dir>/checkpoint.sock
  std::string store;   // A folder or bucket (common/object_uri.h).
  // FindNewest fails rather than find nothing while this one has something; empty: there is none.
  std::string archive_store;
  std::string job_uid;
  std::string trainer;           // Becomes the manifest's writer.
  double patience_seconds = 10;  // For the service to come back.
  double commit_seconds = 300;   // For one shard to become durable, or to be restored.
  bool allow_nonfinite = false;  // Save states that have NaN or infinities.
  bool exact_only = false;       // FindNewest passes over what does not bring every bit back.
};

// What a snapshot is of, and how it is to be treated.
struct SnapshotKey {
  int generation = 0;
  int step = 0;
  int64_t total = 0;  // Elements of the state.
  Precision precision = Precision::kExact;
  bool urgent = false;  // Training waits for it: its shards are not written at low priority.
};

// One rank's shards between Stage and Commit, in shared memory that the service bounds.
// Destroying it gives the memory back. Must not outlive its client.
class StagedShards {
 public:
  virtual ~StagedShards() = default;
  // Splits, copies and hashes. No allocation of the state's size; no RPC, but for once in a process when a state has
  // more exceptions (planes.h) than room was reserved for. On return the caller may change the state.
  // FAILED_PRECONDITION: it has NaN or infinities, and the options do not allow them. Shards that are copied are on
  // their way to the store while the next ones are being copied. Any number of threads may call it with the same state:
  // each takes shards that no other has begun, and all return, with the same status, when nobody copies any more.
  virtual absl::Status Copy(const StateView& state) = 0;
  // Valid after Copy: all of plane 0, then all of plane 1.
  virtual const std::vector<ShardRef>& refs() const = 0;
  // Returns when all shards are durable; of those that wait, plane 0 goes first. A service that was restarted in
  // between gets them again.
  virtual absl::Status Commit() = 0;
  // After Commit: for how long the writes stood still because training had the processors; 0 for urgent ones.
  virtual double held_up_seconds() const = 0;
};

struct ServiceInfo {
  std::string incarnation;
  double staged_bytes = 0;
};

struct Restored {
  Manifest manifest;
  bool exact = false;                         // Every bit is as it was saved.
  std::map<std::string, int64_t> bytes_from;  // "memory", "peer", "store".
};

class CheckpointClient {
 public:
  // Connects lazily: succeeds without a service. INVALID_ARGUMENT for an empty or unsafe field.
  static absl::StatusOr<std::unique_ptr<CheckpointClient>> Create(ClientOptions options);
  virtual ~CheckpointClient() = default;

  // Reserves shared memory for `ranges` of the state (none: a rank without shards; that is fine).
  virtual absl::StatusOr<std::unique_ptr<StagedShards>> Stage(const SnapshotKey& snapshot,
                                                              const std::vector<ShardRange>& ranges) = 0;

  // Commits the checkpoint and returns its name when it is durable. job_uid and writer are filled in here. Shards of
  // other ranks that are not in the store yet are waited for, at most `wait_seconds`, then NOT_FOUND names one.
  // FAILED_PRECONDITION: the store has a newer generation; this trainer has been left out.
  // `job_file` is durable before the manifest; ABORTED: one is required, none is given, and the store has none.
  // Afterwards what `retention` does not keep is collected.
  virtual absl::StatusOr<std::string> WriteManifest(Manifest manifest, const JobFile& job_file,
                                                    const Retention& retention, double wait_seconds) = 0;

  // Replaces the store's job.json without a checkpoint, as a writer of that generation; takes at most `seconds`.
  // FAILED_PRECONDITION as above.
  virtual absl::Status WriteJobFile(int generation, const std::string& text, double seconds) = 0;

  // The store's job.json, verified, as it lies there. NOT_FOUND: there is none. DATA_LOSS, FAILED_PRECONDITION:
  // DecodeJobFile.
  virtual absl::StatusOr<std::string> ReadJobFile() = 0;

  // The newest checkpoint of the job that is there: every shard, with its size. `verify`: whole, byte for byte, as
  // Restore would find out later.
  virtual absl::StatusOr<Newest> FindNewest(bool verify) = 0;

  // Looks for this one checkpoint. Where its bytes are damaged, the next older one that is good is found. Where it is
  // not there, nothing is found, and Newest::missing says why.
  virtual absl::StatusOr<Newest> FindNamed(const std::string& name, bool verify) = 0;

  // Fills `state` (of the moments what it wants; spare memory: its content is undefined after an error) from every
  // shard of the manifest `name`, verified again as it is read. INVALID_ARGUMENT when the state's total differs.
  virtual absl::StatusOr<Restored> Restore(int generation, const std::string& name, const MutableState& state) = 0;

  virtual absl::StatusOr<ServiceInfo> GetInfo() = 0;

  // Ends pending and later calls with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_H_
