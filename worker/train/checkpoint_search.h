// What a trainer knows of its job's checkpoints: it looks when it starts, when the coordinator names one to look for,
// and when a restore failed; what it finds goes into its reports.
#ifndef REKINDLE_WORKER_TRAIN_CHECKPOINT_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_CHECKPOINT_SEARCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/client.h"
#include "worker/train/control_plane.h"
#include "worker/train/reporter.h"

namespace rekindle::train {

// Not thread-safe. Each look may take as long as the store's deadlines let it. Neither `store` nor `reporter` is owned;
// both outlive it. `clock` gives steady seconds.
class CheckpointSearch {
 public:
  CheckpointSearch(checkpoint::CheckpointClient& store, Reporter& reporter, std::function<double()> clock);

  // The newest of all. An error, which is reported too: the store could not be read.
  absl::Status FindNewest();
  // That one; with `verify` every byte of it. Where it is damaged, what is whole below it.
  void Find(const std::string& name, bool verify);
  // Looks for what the directive names, and for the newest where it asks for that, when it is due: at once when it is
  // new, then after growing pauses.
  void Follow(const Directive& directive);

 private:
  // Pauses between looks for the same thing.
  struct Pace {
    double pause = 0;
    double next = 0;
  };
  bool IsDue(const Pace& pace) const { return clock_() >= pace.next; }
  void Pause(Pace* pace) const;

  void LookAnew(int64_t look);
  void FindTold(const Directive& directive);
  void Tell(const checkpoint::Newest& found, bool verified);
  // Members that nobody heard of may have saved later ones since, and collected that one.
  void TellLaterThan(const std::string& name);

  checkpoint::CheckpointClient& store_;
  Reporter& reporter_;
  const std::function<double()> clock_;
  std::string name_;  // What the newest directive asked for.
  bool verify_ = false;
  Pace pace_;
  int64_t look_ = 0;  // What it asked for.
  Pace look_pace_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CHECKPOINT_SEARCH_H_
