// Guards the free space that a checkpoint service keeps in the file system of a store that is a folder. A save that
// would use this space is refused before it writes. So there is always room for the small files that must be written:
// manifests, job.json, the marks of generations, and the files that a collection writes before it removes. A bucket has
// no such limit, and neither has a file system that does not report its free space.
//
// Space is checked but not reserved. Several nodes that write shards to one file system at the same time may each be
// admitted by the same free space. Together their shards may use some of the kept space, each by at most its own bytes.
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

// Returns how many bytes are kept free on a file system of `total_bytes`: 5 % of the size, and at most 1 GiB.
int64_t KeptFree(int64_t total_bytes);

// Admits saves by the free space of their store. The class is thread-safe, and holds no lock while it asks the file
// system.
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

  // Returns RESOURCE_EXHAUSTED, with a text that says what to do, if `bytes` more in the store `uri` would use space
  // that is kept free.
  absl::Status Check(const std::string& uri, int64_t bytes) const;

  // Checks that the store has room for a shard of `bytes` that is about to be written. For the first shard of a save,
  // there must be room for `staged` bytes, which is the most that the save may write, so that a save that does not fit
  // leaves no part of itself. Each later shard is checked for its own bytes only, because some of the staged bytes are
  // on the disk by then. A save may write less than `staged`. So after a save was refused because of `staged`, the next
  // save, or another attempt at the same one, is checked shard by shard.
  absl::Status Admit(const std::string& uri, const Save& save, int64_t bytes, int64_t staged);
  // Records that a save is given up because one of its shards was not admitted.
  void GiveUp(const Save& save);

 private:
  struct Trainer {
    // `admitted` is the generation and step of the save that the trainer is writing.
    std::pair<int, int> admitted = {-1, -1};
    // `refused` is the newest save that was refused because of its staged bytes.
    std::pair<int, int> refused = {-1, -1};
    // `shards` are the shards of the save `refused` that were not admitted. If one of them comes again, the save is
    // another attempt.
    std::set<std::string> shards;
  };
  static bool CountsAlone(const Trainer& trainer, const Save& save);

  const Space space_;
  common::Mutex mutex_;
  // `trainers_` maps (job, trainer) to what is known of that trainer's saves.
  std::map<std::pair<std::string, std::string>, Trainer> trainers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_STORE_ROOM_H_
