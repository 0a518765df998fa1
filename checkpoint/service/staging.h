// Lends segments of shared memory to trainers. The total size of the segments is bounded, their memory is pre-faulted,
// and each has one owner.
//
// A segment is given back when it is released, when its owner is known to be dead, or when the Staging is destroyed.
// Memory that is still in use (a call, a tier or a reader holds a pointer) is counted and kept until it is no longer
// used. Memory that a living process gave back stays idle for this process alone, because new pages cost several times
// what filling them costs. Idle memory is removed when another segment needs room. The class is thread-safe.
#ifndef REKINDLE_CHECKPOINT_SERVICE_STAGING_H_
#define REKINDLE_CHECKPOINT_SERVICE_STAGING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/memory/shared_memory.h"
#include "common/process/process.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

struct SegmentOwner {
  std::string job_uid;
  std::string trainer;
  common::ProcessIdentity process;
  int generation = 0;
};

class Staging {
 public:
  using Mapping = std::shared_ptr<const common::SharedMemory>;
  // Describes a segment's memory, whether it is in use or idle.
  struct Place {
    std::string name;
    std::string path;
    // `bytes` is the size of the segment's file.
    int64_t bytes = 0;
    // `mapping` is null if the segment was never mapped.
    Mapping mapping;
  };
  // A `Segment` is memory in use. The memory becomes idle when the last pointer to the segment goes.
  class Segment {
   public:
    Segment(Place place, SegmentOwner owner, std::function<void(Place)> on_gone)
        : name(place.name),
          path(place.path),
          owner(std::move(owner)),
          bytes_(place.bytes),
          mapping_(std::move(place.mapping)),
          gone_(std::move(on_gone)) {}
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment() { gone_({name, path, bytes_, std::move(mapping_)}); }

    const std::string name;
    const std::string path;
    const SegmentOwner owner;
    // Returns the size of the segment's file in bytes.
    int64_t bytes() const { return bytes_; }
    // Maps the whole segment for reading and writing. The mapping is kept for the next user of the memory too, because
    // mapping costs as much as reading. The call is thread-safe and returns the errors of SharedMemory::Map.
    absl::StatusOr<Mapping> Map() const;

   private:
    friend class Staging;
    mutable std::atomic<int64_t> bytes_;
    mutable common::Mutex mutex_;
    mutable Mapping mapping_ ABSL_GUARDED_BY(mutex_);
    const std::function<void(Place)> gone_;
  };

  // Segments are files in `folder` whose names begin with `prefix`, with at most `limit` bytes in all.
  Staging(std::string folder, std::string prefix, int64_t limit);
  // REQUIRES: nobody holds pointers to segments of the Staging any more.
  ~Staging();

  // Removes the segments that an earlier process with this prefix left, and no other files. The caller must call it
  // before the first Open. Returns how many segments were removed.
  absl::StatusOr<int> RemoveLeftovers();

  // Opens a segment of shared memory, whose bytes are undefined. Returns RESOURCE_EXHAUSTED if the limit or the folder
  // has no room, and FAILED_PRECONDITION if the owner does not run.
  absl::StatusOr<std::shared_ptr<const Segment>> Open(const SegmentOwner& owner, int64_t bytes);
  // Returns a segment of the owner. Returns NOT_FOUND if the segment was released or belongs to an earlier service, and
  // PERMISSION_DENIED if another process owns it.
  absl::StatusOr<std::shared_ptr<const Segment>> Find(const SegmentOwner& owner, const std::string& name) const;
  // Gives back the memory behind the segment's first `bytes`, which must be between 1 and the segment's size.
  absl::Status Shrink(const Segment& segment, int64_t bytes);
  // Holds `segment` for `reader` until the reader releases the returned name or is known to be dead.
  std::string Share(const SegmentOwner& reader, std::shared_ptr<const Segment> segment);
  // Releases the segments `names`. Unknown names and segments of other owners are ignored.
  void Release(const SegmentOwner& owner, const std::vector<std::string>& names);
  // Takes back the segments of processes that have ended. Returns the number of segments.
  int RemoveOfDead();

  // Returns the size of all segments, including idle memory.
  int64_t bytes() const;
  int64_t idle_bytes() const;
  // Returns the bytes that this Staging has lent to the job's trainers. A trainer holds the shards that it is saving
  // and, for a short time each, the shards that it is restoring.
  int64_t LentTo(const std::string& job_uid) const;

 private:
  struct Held {
    std::shared_ptr<const Segment> segment;
    common::ProcessIdentity holder;
  };
  struct Idle {
    Place place;
    SegmentOwner owner;
  };
  // `Retired` lists segments that the caller has to remove after it has released the lock.
  using Retired = std::vector<Idle>;

  void Return(Place place, const SegmentOwner& owner);
  std::optional<Idle> TakeIdle(const SegmentOwner& owner, int64_t bytes, Retired* retired)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MakeRoom(int64_t bytes, Retired* retired) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Retire(std::list<Idle>::iterator idle, Retired* retired) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Remove(const Retired& retired);

  const std::string folder_;
  const std::string prefix_;
  const int64_t limit_;
  // `incarnation_` is part of every segment's name, so a name of an earlier service is unknown to this one.
  const std::string incarnation_;
  mutable common::Mutex mutex_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Held> segments_ ABSL_GUARDED_BY(mutex_);
  // `idle_` is sorted by how long the memory has been idle, longest first.
  std::list<Idle> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_STAGING_H_
