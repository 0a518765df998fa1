// Saves checkpoints off the training thread. A snapshot of the device's state is copied to shared memory while the next
// step's forward and backward run. Only the optimizer must wait for the copy, or on a GPU for the split into planes
// that comes before it. The slow work (making the shards durable, writing the manifest) happens later, while the next
// snapshot may already be copied, because there are two buffers. No error of a checkpoint ever fails training. Errors
// are counted and reported.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINTER_H_
#define REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINTER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/client/client.h"
#include "checkpoint/client/staged_shards.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/device.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/save/plane_scratch.h"
#include "worker/train/save/shard_gathering.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

struct CheckpointStatus {
  // `committed` is the newest checkpoint that this trainer committed.
  CheckpointName committed;
  int failed = 0;
  // `error` is the error of the newest attempt to save. It is empty after a success.
  std::string error;
  // `refused_generation` is the newest generation whose checkpoint the store refused because it knows of a newer
  // generation.
  int refused_generation = 0;
};

struct CheckpointerOptions {
  std::string spec_digest;
  checkpoint::Retention retention;
  // `tensors` are the names and shapes that go into the manifest.
  std::vector<checkpoint::TensorInfo> tensors;
  // `job_file` returns the file that is stored beside the checkpoint. It is called on a background thread. It is null
  // if there is no job file.
  std::function<checkpoint::JobFile()> job_file;
  // `scratch` splits the state on the device. It is null if the device is the host.
  PlaneScratch* scratch = nullptr;
  // `changed` is called from background threads with every new status.
  std::function<void(const CheckpointStatus&)> changed;
};

// Only the training thread may call a Checkpointer, except for Status(), which any thread may call.
class Checkpointer {
 public:
  // `device` and `client` must outlive the Checkpointer.
  Checkpointer(device::Device& device, checkpoint::CheckpointClient& client, CheckpointerOptions options);
  // Cancels pending calls of the client and joins the threads.
  ~Checkpointer();

  // Starts a snapshot of this rank's shards of `state`, which must stay as it is until WaitCopied has returned. The
  // snapshot is skipped, and counted as a failure, while two earlier ones are still being written.
  void Begin(const SnapshotInfo& info, const TrainState& state);

  // Waits until nothing reads the live state any more, and returns the seconds waited. An urgent snapshot has been
  // copied then. On a device that is not the host, the splits that still read the state are put before what is queued
  // from now on. On the host, the caller's thread helps to copy what is left. If the service has not even given memory
  // within `stall_seconds`, the snapshot is dropped, so that the step is not held up.
  double WaitCopied(double stall_seconds = 0.1);

  // Returns the list of this rank's shards of the oldest snapshot that was copied and whose list was not taken yet.
  ShardNotes TakeNotes();

  // Adds one rank's list of its shards. Only the committer (rank 0) calls Collect(), with the lists of all ranks. When
  // all shards of a snapshot are known, its manifest is written.
  void Collect(int generation, const ShardNotes& notes);

  // Begins a generation. A snapshot of an older generation whose shards are not all known gets no manifest any more.
  void Enter(int generation);

  // Tells the checkpointer that no other rank writes shards any more until the next Begin(). Shards that are not in the
  // store by now will not come, so the checkpointer stops waiting for them.
  void OthersAreDone();

  // Blocks until all begun work has ended, at most `seconds`. Returns false if it has not ended by then.
  bool Drain(double seconds);

  CheckpointStatus Status() const;

  // Returns the bytes a second at which this rank's newest shards became durable. The time in which training had the
  // processors is left out. Returns 0 if no shards have become durable yet.
  double write_rate() const;

 private:
  enum class Copy { kIdle, kStaging, kCopying };
  struct Snapshot {
    int64_t id = 0;
    SnapshotInfo info;
    int64_t step = 0;
    // `total` is the number of elements of the whole state.
    int64_t total = 0;
    // `parts` has the memory of the elements from `origin` on: of the weights and of each moment that is kept. `ready`
    // is a mark behind all that has written it.
    std::vector<device::Range> parts;
    int64_t origin = 0;
    device::Mark ready;
    // `leaves_at_once` says that the scratch has the whole snapshot, so that training does not wait for the copy.
    bool leaves_at_once = false;
  };
  using Task = std::function<void()>;
  // Each Worker is a thread. The copier stages snapshots and copies them. The writer makes the shards durable and
  // commits checkpoints. The keeper does the same for what goes to the memory of nodes only, so that it does not wait
  // for a store.
  enum Worker { kCopier, kWriter, kKeeper, kWorkers };
  struct Work {
    std::deque<Task> tasks;
    bool busy = false;
  };

  double AwaitCopy(double stall_seconds);
  // Gives the scratch back if a snapshot of this checkpointer has it.
  void EndScratch();
  void Loop(std::stop_token stop, int worker);
  void Enqueue(Worker worker, Task task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Save(const Snapshot& snapshot);
  absl::Status CopyStaged(const std::shared_ptr<checkpoint::StagedShards>& staged, const Snapshot& snapshot,
                          double* held_up_seconds);
  absl::Status CopyState(checkpoint::StagedShards& staged, const Snapshot& snapshot);
  absl::Status CopySplit(checkpoint::StagedShards& staged, const Snapshot& snapshot);
  // Notes that a snapshot begins, whose lists of shards will be collected.
  void Expect(const SnapshotInfo& info, const StateScalars& scalars) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns why a snapshot cannot begin now, or OK.
  absl::Status CheckRoom(const SnapshotInfo& info) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Notes that a snapshot is being copied and written, or is not any more.
  void Count(const SnapshotInfo& info, bool begins) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether training waits for the copy of `snapshot`, or would wait if it came to its next optimizer step now.
  bool IsAwaited(const Snapshot& snapshot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return snapshot.id == newest_ && copy_ != Copy::kIdle;
  }
  // Makes the copied shards durable. `start` is the time at which the copy began, because shards are already written
  // while others are being copied. `held_up_seconds` is the part of the copy in which training had the processors.
  void Write(checkpoint::StagedShards& staged, const Snapshot& snapshot, double start, double held_up_seconds);
  void Commit(const checkpoint::Manifest& manifest);
  void CommitToMemory(const checkpoint::Manifest& manifest);
  absl::StatusOr<std::string> WriteManifest(const checkpoint::Manifest& manifest);
  void Lost(const Snapshot& snapshot, const absl::Status& status);
  void Failed(const absl::Status& status);

  device::Device& device_;
  checkpoint::CheckpointClient& client_;
  const CheckpointerOptions options_;

  // `waited_to_begin_` is how long the training thread has waited for the scratch since WaitCopied().
  double waited_to_begin_ = 0;
  mutable common::Mutex mutex_;
  common::CondVar changed_;
  // `copy_` is the progress of the newest snapshot's copy. An older snapshot that still waits for memory will be
  // dropped, because training has gone on.
  Copy copy_ ABSL_GUARDED_BY(mutex_) = Copy::kIdle;
  // `durable_step_` is the step of the newest snapshot that goes to the store.
  int64_t durable_step_ ABSL_GUARDED_BY(mutex_) = -1;
  // `newest_` is the id of the newest snapshot.
  int64_t newest_ ABSL_GUARDED_BY(mutex_) = 0;
  // `being_copied_` has the shards of the newest snapshot while `copy_` is kCopying.
  std::shared_ptr<checkpoint::StagedShards> being_copied_ ABSL_GUARDED_BY(mutex_);
  Snapshot copied_from_ ABSL_GUARDED_BY(mutex_);
  // `generation_` is the newest generation that was entered.
  int generation_ ABSL_GUARDED_BY(mutex_) = 0;
  // `writing_` counts the snapshots that are being copied, or are copied and not written yet.
  int writing_ ABSL_GUARDED_BY(mutex_) = 0;
  // `keeping_` says that a snapshot that goes to memory only is being copied, or is copied and not kept yet.
  bool keeping_ ABSL_GUARDED_BY(mutex_) = false;
  double write_rate_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<ShardNotes> notes_ ABSL_GUARDED_BY(mutex_);
  // `lost_` has the generation and step of each snapshot whose own shards this rank could not write.
  std::set<std::pair<int, int64_t>> lost_ ABSL_GUARDED_BY(mutex_);
  // `uses_scratch_` says that a snapshot has the scratch of the options.
  bool uses_scratch_ ABSL_GUARDED_BY(mutex_) = false;
  bool others_are_done_ ABSL_GUARDED_BY(mutex_) = false;
  // `waits_for_` says what the commit under way did not find in the store. It is empty if no commit waits.
  std::string waits_for_ ABSL_GUARDED_BY(mutex_);
  CheckpointStatus status_ ABSL_GUARDED_BY(mutex_);
  ShardGathering gathering_ ABSL_GUARDED_BY(mutex_);
  // `work_` holds the tasks of each Worker, and `threads_` its thread. Both are indexed by Worker.
  std::array<Work, kWorkers> work_ ABSL_GUARDED_BY(mutex_);
  std::array<std::jthread, kWorkers> threads_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINTER_H_
