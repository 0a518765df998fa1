// The room that a checkpoint service leaves in a store that is a folder. A save that would take of it is refused before
// it writes, so that there is always some for what is small and must be written: manifests, job.json, the marks of
// generations, and what a collection writes before it removes. A bucket has no such limit, nor has a file system that
// does not tell its free space.
//
// Nothing is reserved: shards that other nodes write to the same file system at the same time have all been admitted
// by the same free space, so together they may take of what is kept, each by at most its own bytes.
#ifndef REKINDLE_CHECKPOINT_STORE_ROOM_H_
#define REKINDLE_CHECKPOINT_STORE_ROOM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/disk_space.h"

namespace rekindle::checkpoint {

// Bytes that stay free on a file system of that size: 5 % of it, and at most 1 GiB.
int64_t KeptFree(int64_t total_bytes);

// Thread-safe. Holds no lock while it asks the file system.
class StoreRoom {
 public:
  using Space = std::function<absl::StatusOr<common::DiskSpace>(const std::string& folder)>;
  // A shard of what one trainer saves at one step.
  struct Save {
    std::string job_uid;
    std::string trainer;
    int generation = 0;
    int step = 0;
    std::string xxh3 = {};
  };

  explicit StoreRoom(Space space = common::SpaceOf) : space_(std::move(space)) {}

  // RESOURCE_EXHAUSTED: `bytes` more in the store `uri` would take of what is kept free; says what to do.
  absl::Status Check(const std::string& uri, int64_t bytes) const;

  // Checks the room for a shard of `bytes` that is about to be written. Of a save that has written nothing yet,
  // `staged` counts, which is all that may be written with it: a save that does not fit leaves no part of itself. Later
  // ones count alone, as part of what was asked for is on the disk by then. What is staged may be more than what is
  // written: after a save that was refused for that, the next one, or the same tried again, is tried shard by shard.
  absl::Status Admit(const std::string& uri, const Save& save, int64_t bytes, int64_t staged);
  // What was not admitted is given up.
  void GiveUp(const Save& save);

 private:
  struct Trainer {
    std::pair<int, int> admitted = {-1, -1};  // Generation and step of the save that is being written.
    std::pair<int, int> refused = {-1, -1};   // The newest save that was refused for what was staged.
    std::set<std::string> shards;             // Its shards that were refused: when one comes again, it is tried again.
  };
  static bool CountsAlone(const Trainer& trainer, const Save& save);

  const Space space_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Trainer> trainers_;  // By job and trainer.
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_ROOM_H_
