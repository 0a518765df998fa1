// Searches the job's store for checkpoints and puts what it finds into the trainer's reports. The search looks into the
// store when the trainer starts, when the coordinator names a checkpoint, and when a restore has failed.
#ifndef REKINDLE_WORKER_TRAIN_RESTORE_CHECKPOINT_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_RESTORE_CHECKPOINT_SEARCH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/client/client.h"
#include "common/time/clock.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"

namespace rekindle::train {

// CheckpointSearch is not thread-safe. Each look into the store may take as long as the store's deadlines allow.
// `store` and `reporter` are not owned and must outlive the search. `clock` returns steady seconds.
class CheckpointSearch {
 public:
  CheckpointSearch(checkpoint::CheckpointClient& store, Reporter& reporter, common::TimeSource clock);

  // Looks for the newest of all checkpoints and reports it. Returns and reports an error if the store could not be
  // read.
  absl::Status FindNewest();
  // Looks for the checkpoint `name` and reports whether it is there. With `verify` every byte of it is read. If it is
  // damaged, the newest whole checkpoint before it is reported.
  void Find(const std::string& name, bool verify);
  // Looks for the checkpoint that the directive names, and for the newest one if the directive asks for that. A new
  // request is followed at once. After that the pauses between looks grow.
  void Follow(const Directive& directive);

 private:
  // Pace holds the pause between two looks for the same checkpoint and the time of the next look, in seconds.
  struct Pace {
    double pause = 0;
    double next = 0;
  };
  bool IsDue(const Pace& pace) const { return clock_() >= pace.next; }
  void Pause(Pace* pace) const;

  void LookAnew(int64_t look);
  void FindTold(const Directive& directive);
  void Tell(const checkpoint::SearchResult& found, bool verified);
  // Reports the newest checkpoint in the store if it is newer than the missing one called `name`. Trainers of which the
  // coordinator has heard nothing may have saved newer checkpoints and deleted `name`.
  void TellLaterThan(const std::string& name);

  checkpoint::CheckpointClient& store_;
  Reporter& reporter_;
  const common::TimeSource clock_;
  // `name_` is the checkpoint that the newest directive asked for.
  std::string name_;
  bool verify_ = false;
  Pace pace_;
  // `look_` is the number (Directive::look) of the newest search of the store that a directive has asked for.
  int64_t look_ = 0;
  Pace look_pace_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_RESTORE_CHECKPOINT_SEARCH_H_
