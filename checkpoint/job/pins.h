// Stores pins, which keep checkpoints from being collected, as small objects beside the manifests. Buckets may lack a
// conditional put, so the order of operations makes pins safe:
//   a process that pins:  writes the pin, then looks for manifest and shards
//   a collection:         removes the manifest, then looks for pins, puts the manifest back if it is pinned, and only
//                         then removes shards
// So the collection sees the pin, or the process finds no manifest and its pin fails. Once a pin has succeeded, its
// checkpoint stays whole.
#ifndef REKINDLE_CHECKPOINT_JOB_PINS_H_
#define REKINDLE_CHECKPOINT_JOB_PINS_H_

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

struct Pin {
  std::string why;
  // `when` is the time at which the checkpoint was pinned, in Unix seconds.
  double when = 0;
};

// Writes, reads and removes pins. The class keeps no state of its own, so it is as thread-safe as the backend of its
// folder.
class Pins {
 public:
  explicit Pins(JobFolder folder) : folder_(std::move(folder)) {}

  // Pins a checkpoint, which is then never collected, whatever other processes do with the store. If the checkpoint is
  // not whole (by sizes) after the pin was written, the pin is removed again and NOT_FOUND or DATA_LOSS is returned.
  // Pinning again replaces the reason.
  absl::Status Put(const std::string& name, const Pin& pin);
  // Removes the pin of a checkpoint. Returns OK if it has none.
  absl::Status Remove(const std::string& name);
  // Returns the names of the pinned checkpoints, whether the checkpoints are there or not.
  absl::StatusOr<std::set<std::string>> Names();
  // Returns the pin of a checkpoint, or NOT_FOUND if it has none. A pin that cannot be read still counts, but has no
  // reason.
  absl::StatusOr<Pin> Read(const std::string& name);

 private:
  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_PINS_H_
