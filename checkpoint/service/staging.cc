#include "checkpoint/service/staging.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

// Sizes of segments count as equal if they differ by less than one part in `kSizeTolerance`. They differ because plane
// 1 is shrunk to the size that it needed.
constexpr int64_t kSizeTolerance = 16;

std::string RandomToken() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8));
}

// Remembers whether processes are alive, so that each is looked up once, however many segments it has.
class Living {
 public:
  bool Has(const common::ProcessIdentity& process) {
    auto [seen, is_new] = alive_.try_emplace({process.pid, process.start_time_ticks}, false);
    if (is_new) seen->second = process.Alive();
    return seen->second;
  }

 private:
  std::map<std::pair<pid_t, uint64_t>, bool> alive_;
};

}  // namespace

Staging::Staging(std::string folder, std::string prefix, int64_t limit)
    : folder_(std::move(folder)), prefix_(std::move(prefix)), limit_(limit), incarnation_(RandomToken()) {}

Staging::~Staging() {
  std::map<std::string, Held> last;
  Retired retired;
  {
    const common::MutexLock lock(mutex_);
    ending_ = true;
    last.swap(segments_);
    while (!idle_.empty()) Retire(idle_.begin(), &retired);
  }
  Remove(retired);
}

absl::StatusOr<int> Staging::RemoveLeftovers() {
  const auto names = common::PosixFileSystem()->List(folder_);
  if (!names.ok()) return names.status();
  int removed = 0;
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, prefix_)) continue;
    struct stat info = {};
    // Every user may put a file whose name begins with `prefix_` into the folder for shared memory. Only the file's
    // owner can remove it, so files of other users are skipped.
    if (lstat((folder_ + "/" + name).c_str(), &info) != 0 || info.st_uid != geteuid()) continue;
    if (absl::Status status = common::RemoveSharedMemory(folder_ + "/" + name); !status.ok()) return status;
    ++removed;
  }
  return removed;
}

absl::StatusOr<Staging::Mapping> Staging::Segment::Map() const {
  const common::MutexLock lock(mutex_);
  if (mapping_ != nullptr && mapping_->size() == static_cast<size_t>(bytes_) && mapping_->IsAllOf(path))
    return mapping_;
  auto memory = common::SharedMemory::Map(path, static_cast<size_t>(bytes_), common::SharedMemory::Access::kReadWrite);
  if (!memory.ok()) return memory.status();
  mapping_ = std::make_shared<const common::SharedMemory>(*std::move(memory));
  return mapping_;
}

// Takes the memory of a segment back when the last pointer to it is gone.
void Staging::Return(Place place, const SegmentOwner& owner) {
  const bool alive = owner.process.Alive();
  Retired retired;
  {
    const common::MutexLock lock(mutex_);
    idle_.push_back({std::move(place), owner});
    if (!alive || ending_) Retire(std::prev(idle_.end()), &retired);
  }
  Remove(retired);
}

void Staging::Retire(std::list<Idle>::iterator idle, Retired* retired) {
  bytes_ -= idle->place.bytes;
  retired->push_back(std::move(*idle));
  idle_.erase(idle);
}

void Staging::Remove(const Retired& retired) {
  for (const Idle& idle : retired) common::RemoveSharedMemory(idle.place.path).IgnoreError();
}

// Takes an idle segment of the owner's process that has about the wanted size. If there is none, the sizes of the
// process's shards have changed, so the idle segments of its earlier generations will not be used again and are
// retired.
std::optional<Staging::Idle> Staging::TakeIdle(const SegmentOwner& owner, int64_t bytes, Retired* retired) {
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    const int64_t surplus = at->place.bytes - bytes;
    if (at->owner.process != owner.process || std::abs(surplus) > bytes / kSizeTolerance) continue;
    if (-surplus > limit_ - bytes_) continue;
    Idle idle = std::move(*at);
    idle_.erase(at);
    bytes_ -= surplus;
    return idle;
  }
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto next = std::next(at);
    if (at->owner.process == owner.process && at->owner.generation < owner.generation) Retire(at, retired);
    at = next;
  }
  return std::nullopt;
}

bool Staging::MakeRoom(int64_t bytes, Retired* retired) {
  while (bytes > limit_ - bytes_ && !idle_.empty()) Retire(idle_.begin(), retired);
  return bytes <= limit_ - bytes_;
}

absl::StatusOr<std::shared_ptr<const Staging::Segment>> Staging::Open(const SegmentOwner& owner, int64_t bytes) {
  if (bytes < 1) return absl::InvalidArgumentError("a segment must have at least one byte");
  if (!owner.process.Alive()) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", owner.process.pid, " of trainer ", owner.trainer,
                     " does not run here: trainer and checkpoint service must share one process namespace"));
  }
  RemoveOfDead();
  std::optional<Idle> idle;
  Place place{.bytes = bytes};
  Retired retired;
  {
    const common::MutexLock lock(mutex_);
    idle = TakeIdle(owner, bytes, &retired);
    if (!idle.has_value() && MakeRoom(bytes, &retired)) {
      // The memory of the new segment is made after the lock is released, because making it is slow. Its bytes are
      // counted already now, so that no other call gets them.
      bytes_ += bytes;
      place.name = absl::StrCat(prefix_, incarnation_, "-", next_++);
      place.path = folder_ + "/" + place.name;
    }
  }
  Remove(retired);
  if (!idle.has_value() && place.name.empty()) {
    return absl::ResourceExhaustedError(absl::StrCat("staging memory: ", bytes, " bytes asked for, ", this->bytes(),
                                                     " of ", limit_, " in use: raise --memory-limit"));
  }
  absl::Status status;
  if (idle.has_value()) {
    place = {idle->place.name, idle->place.path, bytes, idle->place.mapping};
    status = common::ResizeSharedMemory(place.path, static_cast<size_t>(bytes));
    if (!status.ok()) Remove({*idle});
  } else {
    status = common::CreateSharedMemory(place.path, static_cast<size_t>(bytes));
  }
  const common::MutexLock lock(mutex_);
  if (!status.ok()) {
    bytes_ -= bytes;
    return status;
  }
  const std::string name = place.name;
  auto segment = std::make_shared<const Segment>(std::move(place), owner,
                                                 [this, owner](Place left) { Return(std::move(left), owner); });
  segments_[name] = {segment, owner.process};
  return segment;
}

absl::StatusOr<std::shared_ptr<const Staging::Segment>> Staging::Find(const SegmentOwner& owner,
                                                                      const std::string& name) const {
  const common::MutexLock lock(mutex_);
  const auto found = segments_.find(name);
  if (found == segments_.end()) {
    return absl::NotFoundError("the segment is not known: it was released, or the service was restarted");
  }
  const SegmentOwner& its = found->second.segment->owner;
  if (its.process != owner.process || its.job_uid != owner.job_uid || its.generation != owner.generation) {
    return absl::PermissionDeniedError("the segment belongs to another process, job or generation");
  }
  return found->second.segment;
}

absl::Status Staging::Shrink(const Segment& segment, int64_t bytes) {
  const common::MutexLock lock(mutex_);
  const int64_t surplus = segment.bytes() - bytes;
  if (bytes < 1 || surplus < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a segment of ", segment.bytes(), " bytes cannot be shrunk to ", bytes));
  }
  if (surplus == 0) return absl::OkStatus();
  absl::Status status = common::ResizeSharedMemory(segment.path, static_cast<size_t>(bytes));
  if (!status.ok()) return status;
  segment.bytes_ = bytes;
  bytes_ -= surplus;
  return absl::OkStatus();
}

std::string Staging::Share(const SegmentOwner& reader, std::shared_ptr<const Segment> segment) {
  const common::MutexLock lock(mutex_);
  const std::string name = absl::StrCat("shared-", incarnation_, "-", next_++);
  segments_[name] = {std::move(segment), reader.process};
  return name;
}

void Staging::Release(const SegmentOwner& owner, const std::vector<std::string>& names) {
  // Released segments are destroyed after the lock is released.
  std::vector<Held> released;
  const common::MutexLock lock(mutex_);
  for (const std::string& name : names) {
    const auto found = segments_.find(name);
    if (found == segments_.end() || found->second.holder != owner.process) continue;
    released.push_back(std::move(found->second));
    segments_.erase(found);
  }
}

int Staging::RemoveOfDead() {
  std::vector<Held> dead;
  Retired retired;
  Living living;
  int removed = 0;
  {
    const common::MutexLock lock(mutex_);
    for (auto at = segments_.begin(); at != segments_.end();) {
      if (living.Has(at->second.holder)) {
        ++at;
        continue;
      }
      dead.push_back(std::move(at->second));
      at = segments_.erase(at);
    }
    for (auto at = idle_.begin(); at != idle_.end();) {
      const auto next = std::next(at);
      if (!living.Has(at->owner.process)) Retire(at, &retired);
      at = next;
    }
    removed = static_cast<int>(dead.size() + retired.size());
  }
  Remove(retired);
  return removed;
}

int64_t Staging::bytes() const {
  const common::MutexLock lock(mutex_);
  return bytes_;
}

int64_t Staging::idle_bytes() const {
  const common::MutexLock lock(mutex_);
  int64_t bytes = 0;
  for (const Idle& idle : idle_) bytes += idle.place.bytes;
  return bytes;
}

int64_t Staging::LentTo(const std::string& job_uid) const {
  const common::MutexLock lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [name, held] : segments_) {
    if (held.segment->owner.job_uid == job_uid) bytes += held.segment->bytes();
  }
  return bytes;
}

}  // namespace rekindle::checkpoint
