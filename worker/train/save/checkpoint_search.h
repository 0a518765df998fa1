// Searches the job's store for checkpoints and puts what it finds into the trainer's reports. It looks when the trainer
// starts, when the coordinator names a checkpoint, and when a restore has failed.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SEARCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/client/client.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"

namespace rekindle::train {

// The class is not thread-safe. Each look may take as long as the deadlines of the store allow. `store` and `reporter`
// are not owned and must outlive it. `clock` returns steady seconds.
class CheckpointSearch {
 public:
  CheckpointSearch(checkpoint::CheckpointClient& store, Reporter& reporter, std::function<double()> clock);

  // Looks for the newest checkpoint of all. Returns and reports an error if the store could not be read.
  absl::Status FindNewest();
  // Looks for the named checkpoint. With `verify` it reads every byte of it. If the checkpoint is damaged, it finds the
  // newest whole one before it.
  void Find(const std::string& name, bool verify);
  // Looks for what the directive names, and for the newest checkpoint if the directive asks for that. A new request is
  // looked up at once. After that the pauses between looks grow.
  void Follow(const Directive& directive);

 private:
  // `Pace` holds the pauses between looks for the same checkpoint, in seconds.
  struct Pace {
    double pause = 0;
    double next = 0;
  };
  bool IsDue(const Pace& pace) const { return clock_() >= pace.next; }
  void Pause(Pace* pace) const;

  void LookAnew(int64_t look);
  void FindTold(const Directive& directive);
  void Tell(const checkpoint::SearchResult& found, bool verified);
  // Reports a newer checkpoint than the missing one. Members that were not heard from may have saved newer ones and
  // deleted the named one.
  void TellLaterThan(const std::string& name);

  checkpoint::CheckpointClient& store_;
  Reporter& reporter_;
  const std::function<double()> clock_;
  // `name_` is the checkpoint that the newest directive asked for.
  std::string name_;
  bool verify_ = false;
  Pace pace_;
  // `look_` is the number of the newest look that a directive asked for.
  int64_t look_ = 0;
  Pace look_pace_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SEARCH_H_
