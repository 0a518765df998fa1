// Checkpoints off the training thread. A snapshot is copied to shared memory while the next step's forward and
// backward run; only the optimizer must wait for the copy. Everything slow (commit, manifest) happens behind.
// Nothing here ever fails training: errors are counted and told.
#ifndef REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_
#define REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/client.h"
#include "worker/train/control_plane.h"
#include "worker/train/state.h"

namespace rekindle::train {

struct CheckpointStatus {
  CheckpointName committed;  // Newest that this trainer committed.
  int failed = 0;
  std::string error;  // Of the newest attempt; empty after a success.
};

// A rank's shards of one snapshot, to be told to the committer.
struct ShardNotes {
  int64_t step = 0;
  std::vector<checkpoint::ShardRef> refs;  // Empty: none.
};

// One thread (the training one) calls it, except Status().
class Checkpointer {
 public:
  // `changed` is called from the background thread when Status() changed.
  Checkpointer(checkpoint::CheckpointClient& client, std::string spec_digest, int keep_last,
               std::function<void()> changed);
  // Ends pending calls and joins the thread.
  ~Checkpointer();

  // Starts a snapshot of this rank's shards of `state`, which must stay as it is until WaitCopied has returned.
  // Skipped, and counted as a failure, while the one before is still being written.
  void Begin(int generation, int rank, int world_size, const TrainState& state);

  // Returns when nothing reads the live state any more. A service that has not even given memory within
  // `stall_seconds` costs the snapshot, not the step. Returns the seconds waited.
  double WaitCopied(double stall_seconds = 0.1);

  // Shards copied since the last call.
  ShardNotes TakeNotes();

  // The committer (rank 0) gathers everybody's notes; when a snapshot is complete its manifest is written.
  void Collect(int generation, const ShardNotes& notes);

  // A new generation: notes of the old one can never become a manifest.
  void ForgetNotes();

  // Blocks until all begun work has ended, at most `seconds`. False when it has not.
  bool Drain(double seconds);

  CheckpointStatus Status() const;

 private:
  enum class Copy { kIdle, kStaging, kCopying };
  struct Snapshot {
    int generation = 0;
    int64_t step = 0;
    std::string scalars;
    checkpoint::StateView view;
    std::vector<checkpoint::ShardRange> ranges;
  };

  void Loop(std::stop_token stop);
  void Save(const Snapshot& snapshot);
  absl::Status CopyStaged(checkpoint::StagedShards& staged, const Snapshot& snapshot);
  void Commit(checkpoint::Manifest manifest);
  void Failed(const absl::Status& status);
  void Enqueue(std::function<void()> task);  // REQUIRES: mutex_ held.

  checkpoint::CheckpointClient& client_;
  const std::string spec_digest_;
  const int keep_last_;
  const std::function<void()> changed_status_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false;
  Copy copy_ = Copy::kIdle;
  ShardNotes notes_;
  int64_t lost_step_ = -1;  // Newest whose own shards could not be written. Of the background thread only.
  CheckpointStatus status_;
  struct Gathering {
    std::map<int, checkpoint::ShardRef> refs;
    std::string scalars;
  };
  std::map<int64_t, Gathering> gathering_;  // By step, of the running generation.
  std::jthread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CHECKPOINTER_H_
