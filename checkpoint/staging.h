// Segments of shared memory lent to trainers: bounded in all, pre-faulted, each of one owner.
//
// A segment is given back when it is released, when its owner is known dead, or with this object; memory that is still
// in use (a held pointer: a call, a tier, a reader) is counted and kept until then. What a living process gave back
// lies idle for it, and for it alone: new pages cost several times what filling them does. Idle memory gives way to
// whatever needs room. Thread-safe.
#ifndef REKINDLE_CHECKPOINT_STAGING_H_
#define REKINDLE_CHECKPOINT_STAGING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"
#include "common/shared_memory.h"

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
  // What lies in memory, in use or idle.
  struct Place {
    std::string name;
    std::string path;
    int64_t bytes = 0;  // Of its file.
    Mapping mapping;    // Null: nobody has asked for it.
  };
  // Its place becomes idle when the last pointer to it goes.
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
    int64_t bytes() const { return bytes_; }  // Of its file.
    // All of it, to read and write. Kept, also for who uses the place next: mapping costs as much as reading.
    // Thread-safe. Errors as SharedMemory::Map.
    absl::StatusOr<Mapping> Map() const;

   private:
    friend class Staging;
    mutable std::atomic<int64_t> bytes_;
    mutable std::mutex mutex_;
    mutable Mapping mapping_;
    const std::function<void(Place)> gone_;
  };

  // Segments are `folder`/`prefix`..., at most `limit` bytes in all.
  Staging(std::string folder, std::string prefix, int64_t limit);
  // Precondition: no pointers to segments are held any more.
  ~Staging();

  // Removes what an earlier process with this prefix left; nothing else. Before the first Open. Returns how many.
  absl::StatusOr<int> RemoveLeftovers();

  // Its bytes are undefined. RESOURCE_EXHAUSTED when the limit or the folder has no room, FAILED_PRECONDITION when the
  // owner does not run.
  absl::StatusOr<std::shared_ptr<const Segment>> Open(const SegmentOwner& owner, int64_t bytes);
  // NOT_FOUND (it was released, or an earlier service's), PERMISSION_DENIED when another process owns it.
  absl::StatusOr<std::shared_ptr<const Segment>> Find(const SegmentOwner& owner, const std::string& name) const;
  // Gives back what lies behind the segment's first `bytes` (1 to its size).
  absl::Status Shrink(const Segment& segment, int64_t bytes);
  // Holds `segment` for `reader` until it releases the name that is returned, or is known dead.
  std::string Share(const SegmentOwner& reader, std::shared_ptr<const Segment> segment);
  // Unknown and foreign ones are ignored.
  void Release(const SegmentOwner& owner, const std::vector<std::string>& names);
  // Takes back what processes that have ended held. Returns how many segments.
  int RemoveOfDead();

  int64_t bytes() const;  // All there is, idle memory included.
  int64_t idle_bytes() const;
  // What the job's trainers hold here: what they are saving, and for moments what they are restoring.
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
  using Retired = std::vector<Idle>;  // To be removed without the lock.

  void Return(Place place, const SegmentOwner& owner);
  // All three REQUIRE: mutex_ held.
  std::optional<Idle> TakeIdle(const SegmentOwner& owner, int64_t bytes, Retired* retired);
  bool MakeRoom(int64_t bytes, Retired* retired);
  void Retire(std::list<Idle>::iterator idle, Retired* retired);
  static void Remove(const Retired& retired);

  const std::string folder_;
  const std::string prefix_;
  const int64_t limit_;
  const std::string incarnation_;  // In every name: one of an earlier service means nothing to this one.
  mutable std::mutex mutex_;
  int64_t bytes_ = 0;
  int64_t next_ = 0;
  bool ending_ = false;
  std::map<std::string, Held> segments_;
  std::list<Idle> idle_;  // Longest idle first.
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STAGING_H_
