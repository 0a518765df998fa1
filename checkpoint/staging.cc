#include "checkpoint/staging.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/file.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {

Staging::Staging(std::string folder, std::string prefix, int64_t limit)
    : folder_(std::move(folder)), prefix_(std::move(prefix)), limit_(limit) {}

Staging::~Staging() {
  std::map<std::string, std::shared_ptr<const Segment>> last;
  std::lock_guard lock(mutex_);
  last.swap(segments_);
}

absl::StatusOr<int> Staging::RemoveLeftovers() {
  const auto names = common::PosixFileSystem()->List(folder_);
  if (!names.ok()) return names.status();
  int removed = 0;
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, prefix_)) continue;
    if (absl::Status status = common::RemoveSharedMemory(folder_ + "/" + name); !status.ok()) return status;
    ++removed;
  }
  return removed;
}

void Staging::Forget(const std::string& path, int64_t bytes) {
  common::RemoveSharedMemory(path).IgnoreError();
  std::lock_guard lock(mutex_);
  bytes_ -= bytes;
}

absl::StatusOr<std::shared_ptr<const Staging::Segment>> Staging::Open(const SegmentOwner& owner, int64_t bytes) {
  if (bytes < 1) return absl::InvalidArgumentError("a segment must have at least one byte");
  if (!owner.process.Alive()) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", owner.process.pid, " of trainer ", owner.trainer,
                     " does not run here: trainer and checkpoint service must share one process namespace"));
  }
  RemoveOfDead();
  std::string name;
  {
    std::lock_guard lock(mutex_);
    if (bytes > limit_ - bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat("staging memory: ", bytes, " bytes asked for, ", bytes_, " of ",
                                                       limit_, " in use: raise --memory-limit"));
    }
    bytes_ += bytes;  // Reserved before the slow part, which runs without the lock.
    name = absl::StrCat(prefix_, next_++);
  }
  const std::string path = folder_ + "/" + name;
  auto segment =
      std::make_shared<const Segment>(name, path, bytes, owner, [=, this](int64_t left) { Forget(path, left); });
  if (absl::Status status = common::CreateSharedMemory(path, static_cast<size_t>(bytes)); !status.ok()) return status;
  std::lock_guard lock(mutex_);
  segments_[name] = segment;
  return segment;
}

absl::StatusOr<std::shared_ptr<const Staging::Segment>> Staging::Find(const SegmentOwner& owner,
                                                                      const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto found = segments_.find(name);
  if (found == segments_.end()) {
    return absl::NotFoundError("the segment is not known: it was released, or the service was restarted");
  }
  const SegmentOwner& its = found->second->owner;
  if (its.process != owner.process || its.job_uid != owner.job_uid || its.generation != owner.generation) {
    return absl::PermissionDeniedError("the segment belongs to another process, job or generation");
  }
  return found->second;
}

absl::Status Staging::Shrink(const Segment& segment, int64_t bytes) {
  std::lock_guard lock(mutex_);
  const int64_t surplus = segment.bytes() - bytes;
  if (bytes < 1 || surplus < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a segment of ", segment.bytes(), " bytes cannot be shrunk to ", bytes));
  }
  if (surplus == 0) return absl::OkStatus();
  absl::Status status = common::ShrinkSharedMemory(segment.path, static_cast<size_t>(bytes));
  if (!status.ok()) return status;
  segment.bytes_ = bytes;
  bytes_ -= surplus;
  return absl::OkStatus();
}

void Staging::Release(const SegmentOwner& owner, const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const Segment>> released;  // Destroyed without the lock.
  std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    const auto found = segments_.find(name);
    if (found == segments_.end() || found->second->owner.process != owner.process) continue;
    released.push_back(std::move(found->second));
    segments_.erase(found);
  }
}

int Staging::RemoveOfDead() {
  std::vector<std::shared_ptr<const Segment>> dead;
  std::map<std::pair<pid_t, uint64_t>, bool> alive;  // One look a process.
  std::lock_guard lock(mutex_);
  for (auto at = segments_.begin(); at != segments_.end();) {
    const common::ProcessIdentity& process = at->second->owner.process;
    auto [seen, is_new] = alive.try_emplace({process.pid, process.start_time_ticks}, false);
    if (is_new) seen->second = process.Alive();
    if (seen->second) {
      ++at;
      continue;
    }
    dead.push_back(std::move(at->second));
    at = segments_.erase(at);
  }
  return static_cast<int>(dead.size());
}

int64_t Staging::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace rekindle::checkpoint
