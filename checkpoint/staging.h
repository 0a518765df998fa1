// Segments of shared memory lent to trainers: bounded in all, pre-faulted, each of one owner.
//
// A segment goes when it is released, when its owner is known dead, or with this object. Memory that is still in use
// by a call (a held pointer) is counted and kept until that call ends. Thread-safe.
#ifndef REKINDLE_CHECKPOINT_STAGING_H_
#define REKINDLE_CHECKPOINT_STAGING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::checkpoint {

struct SegmentOwner {
  std::string job_uid;
  std::string trainer;
  common::ProcessIdentity process;
  int generation = 0;
};

class Staging {
 public:
  // Removes its file and gives the bytes back when the last pointer to it goes.
  class Segment {
   public:
    Segment(std::string name, std::string path, int64_t bytes, SegmentOwner owner,
            std::function<void(int64_t bytes)> on_gone)
        : name(std::move(name)), path(std::move(path)), owner(std::move(owner)), bytes_(bytes), gone_(on_gone) {}
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment() { gone_(bytes_); }

    const std::string name;
    const std::string path;
    const SegmentOwner owner;
    int64_t bytes() const { return bytes_; }  // Of its file.

   private:
    friend class Staging;
    mutable std::atomic<int64_t> bytes_;
    const std::function<void(int64_t bytes)> gone_;
  };

  // Segments are `folder`/`prefix`..., at most `limit` bytes in all.
  Staging(std::string folder, std::string prefix, int64_t limit);
  // Precondition: no pointers to segments are held any more.
  ~Staging();

  // Removes what an earlier process with this prefix left; nothing else. Before the first Open. Returns how many.
  absl::StatusOr<int> RemoveLeftovers();

  // RESOURCE_EXHAUSTED when the limit or the folder has no room, FAILED_PRECONDITION when the owner does not run.
  absl::StatusOr<std::shared_ptr<const Segment>> Open(const SegmentOwner& owner, int64_t bytes);
  // NOT_FOUND (it was released, or an earlier service's), PERMISSION_DENIED when another process owns it.
  absl::StatusOr<std::shared_ptr<const Segment>> Find(const SegmentOwner& owner, const std::string& name) const;
  // Gives back what lies behind the segment's first `bytes` (1 to its size).
  absl::Status Shrink(const Segment& segment, int64_t bytes);
  // Unknown and foreign ones are ignored.
  void Release(const SegmentOwner& owner, const std::vector<std::string>& names);
  // Removes segments whose owner has ended. Returns how many.
  int RemoveOfDead();

  int64_t bytes() const;

 private:
  void Forget(const std::string& path, int64_t bytes);

  const std::string folder_;
  const std::string prefix_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t bytes_ = 0;
  int64_t next_ = 0;
  std::map<std::string, std::shared_ptr<const Segment>> segments_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STAGING_H_
