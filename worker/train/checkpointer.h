// Checkpoints off the training thread. A snapshot is copied to shared memory while the next step's forward and
// backward run; only the optimizer must wait for the copy. Everything slow (commit, manifest) happens behind, while the
// next snapshot may be copied already: there are two buffers. Nothing here ever fails training: errors are counted and
// told.
#ifndef REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_
#define REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/client.h"
#include "worker/train/control_plane.h"
#include "worker/train/state.h"

namespace rekindle::train {

struct CheckpointStatus {
  CheckpointName committed;  // Newest that this trainer committed.
  int failed = 0;
  std::string error;           // Of the newest attempt; empty after a success.
  int refused_generation = 0;  // The newest of which the store took nothing, because it knows of a newer one.
};

struct CheckpointerOptions {
  std::string spec_digest;
  checkpoint::Retention retention;
  std::vector<checkpoint::TensorInfo> tensors;           // For the manifest.
  std::function<checkpoint::JobFile()> job_file;         // To lie beside it; asked on a background thread. Null: none.
  std::function<void(const CheckpointStatus&)> changed;  // Called from background threads.
};

// What a snapshot is of, beside the state. The losses are the committer's to know.
struct SnapshotInfo {
  int generation = 0;
  std::vector<checkpoint::ShardRange> ranges;  // Those that this rank writes.
  checkpoint::Precision precision = checkpoint::Precision::kExact;
  std::optional<double> loss;
  std::optional<double> validation_loss;
  bool urgent = false;  // Nothing trains until it is saved: not at low priority.
};

// A rank's shards of one snapshot, to be told to the committer.
struct ShardNotes {
  int64_t step = 0;
  std::vector<checkpoint::ShardRef> refs;  // Empty: none.
};

// One thread (the training one) calls it, except Status().
class Checkpointer {
 public:
  Checkpointer(checkpoint::CheckpointClient& client, CheckpointerOptions options);
  // Ends pending calls and joins the threads.
  ~Checkpointer();

  // Starts a snapshot of this rank's shards of `state`, which must stay as it is until WaitCopied has returned.
  // Skipped, and counted as a failure, while two before it are still being written.
  void Begin(const SnapshotInfo& info, const TrainState& state);

  // Returns when nothing reads the live state any more: helps to copy what is left. A service that has not even given
  // memory within `stall_seconds` costs the snapshot, not the step. Returns the seconds waited.
  double WaitCopied(double stall_seconds = 0.1);

  // Shards of the oldest snapshot that was copied and not taken yet.
  ShardNotes TakeNotes();

  // The committer (rank 0) gathers everybody's notes; when a snapshot is complete its manifest is written.
  void Collect(int generation, const ShardNotes& notes);

  // A new generation: notes of older ones can never become a manifest.
  void Enter(int generation);

  // No other rank writes shards any more, until Begin: what is not in the store by now is waited for in vain.
  void OthersAreDone();

  // Blocks until all begun work has ended, at most `seconds`. False when it has not.
  bool Drain(double seconds);

  CheckpointStatus Status() const;

  // Bytes a second at which this rank's newest shards became durable, less the time in which training had the
  // processors; 0: none have.
  double write_rate() const;

 private:
  enum class Copy { kIdle, kStaging, kCopying };
  struct Snapshot {
    int64_t id = 0;
    SnapshotInfo info;
    int64_t step = 0;
    checkpoint::StateView view;
  };
  struct Gathering {
    SnapshotInfo info;
    std::string scalars;
    std::map<std::pair<int, int>, checkpoint::ShardRef> refs;  // By index and plane.
  };
  using Task = std::function<void()>;
  // One thread and what it has to do.
  struct Worker {
    std::deque<Task> tasks;
    bool busy = false;
    std::jthread thread;
  };

  void Loop(std::stop_token stop, Worker& worker);
  bool Idle(const Worker& worker) const { return !worker.busy && worker.tasks.empty(); }
  void Enqueue(Worker& worker, Task task);  // REQUIRES: mutex_ held.
  void Save(const Snapshot& snapshot);
  absl::Status CopyStaged(const std::shared_ptr<checkpoint::StagedShards>& staged, const Snapshot& snapshot,
                          double* held_up_seconds);
  // Whether training still waits for this snapshot, or would. REQUIRES: mutex_ held.
  bool IsAwaited(const Snapshot& snapshot) const { return snapshot.id == newest_ && copy_ != Copy::kIdle; }
  // `start`: when the copy began, as shards are on their way while others are being copied. `held_up_seconds`: of it.
  void Write(checkpoint::StagedShards& staged, const Snapshot& snapshot, double start, double held_up_seconds);
  void Commit(const checkpoint::Manifest& manifest);
  absl::StatusOr<std::string> WriteManifest(const checkpoint::Manifest& manifest);
  void Lost(const Snapshot& snapshot, const absl::Status& status);
  void Failed(const absl::Status& status);

  checkpoint::CheckpointClient& client_;
  const CheckpointerOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Copy copy_ = Copy::kIdle;  // Of the newest snapshot. An older one that still waits for memory has come too late.
  int64_t newest_ = 0;       // Its id.
  std::shared_ptr<checkpoint::StagedShards> being_copied_;  // Of the newest, while kCopying.
  checkpoint::StateView copied_from_;
  int generation_ = 0;  // Newest entered.
  int writing_ = 0;     // Snapshots copied and not written yet, or being copied.
  double write_rate_ = 0;
  std::deque<ShardNotes> notes_;
  std::set<std::pair<int, int64_t>> lost_;  // (generation, step) whose own shards could not be written.
  bool others_are_done_ = false;
  std::string waits_for_;  // What the commit that is under way did not find in the store. Empty: it waits for nothing.
  CheckpointStatus status_;
  std::map<int64_t, Gathering> gathering_;  // By step, of the running generation.
  Worker copier_;                           // Stages and copies.
  Worker writer_;                           // Makes durable.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_
