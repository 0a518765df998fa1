// Guards the free space that a checkpoint service leaves in a store that is a folder. A save that would use this space
// is refused before it writes. So there is always room for the small files that must be written: manifests, job.json,
// the marks of generations, and the files that a collection writes before it removes. A bucket has no such limit, and
// neither has a file system that does not report its free space.
//
// Nothing is reserved. Shards that other nodes write to the same file system at the same time have all been admitted by
// the same free space. Together they may use some of the kept space, each by at most its own bytes.
#ifndef REKINDLE_CHECKPOINT_STORE_STORE_ROOM_H_
#define REKINDLE_CHECKPOINT_STORE_STORE_ROOM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

// Returns the bytes that stay free on a file system of that size: 5 % of it, and at most 1 GiB.
int64_t KeptFree(int64_t total_bytes);

// Admits saves by the free space of their store. It is thread-safe, and holds no lock while it asks the file system.
class StoreRoom {
 public:
  using Space = std::function<absl::StatusOr<common::DiskSpace>(const std::string& folder)>;
  // Identifies a shard of a trainer's save at one step.
  struct Save {
    std::string job_uid;
    std::string trainer;
    int generation = 0;
    int step = 0;
    std::string xxh3 = {};
  };

  explicit StoreRoom(Space space = common::SpaceOf) : space_(std::move(space)) {}

  // Returns RESOURCE_EXHAUSTED with what to do if `bytes` more in the store `uri` would use space that is kept free.
  absl::Status Check(const std::string& uri, int64_t bytes) const;

  // Checks the room for a shard of `bytes` that is about to be written. If its save has written nothing yet, `staged`
  // counts, which is the most that may be written with it, so a save that does not fit leaves no part of itself. Later
  // shards count alone, as some of the staged bytes are on the disk by then. `staged` may be more than what is written.
  // So after a save that was refused for that, the next one, or another attempt at the same one, is checked shard by
  // shard.
  absl::Status Admit(const std::string& uri, const Save& save, int64_t bytes, int64_t staged);
  // Records that the save of a shard that was not admitted is given up.
  void GiveUp(const Save& save);

 private:
  struct Trainer {
    // `admitted` is the generation and step of the save that is being written.
    std::pair<int, int> admitted = {-1, -1};
    // `refused` is the newest save that was refused for what was staged.
    std::pair<int, int> refused = {-1, -1};
    // `shards` are the refused shards of that save. If one comes again, the save is another attempt.
    std::set<std::string> shards;
  };
  static bool CountsAlone(const Trainer& trainer, const Save& save);

  const Space space_;
  common::Mutex mutex_;
  // `trainers_` is keyed by job and trainer.
  std::map<std::pair<std::string, std::string>, Trainer> trainers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_STORE_ROOM_H_
