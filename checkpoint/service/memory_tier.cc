#include "checkpoint/service/memory_tier.h"

#include <iterator>
#include <utility>

#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMostCheckpoints = 2;

}  // namespace

MemoryTier::SegmentPtr MemoryTier::FindLocked(const Job& job, const std::string& xxh3) const {
  for (const auto& [key, checkpoint] : job) {
    const auto found = checkpoint.shards.find(xxh3);
    if (found != checkpoint.shards.end()) return found->second;
  }
  return nullptr;
}

MemoryTier::Job::iterator MemoryTier::NewestComplete(Job& job) {
  auto complete = job.end();
  for (auto at = job.begin(); at != job.end(); ++at) {
    if (at->second.manifest.has_value()) complete = at;
  }
  return complete;
}

// Returns the checkpoint that is forgotten first: the oldest one, but the newest complete one only if there is no
// other.
MemoryTier::Job::iterator MemoryTier::FirstToForget(Job& job) {
  return job.size() > 1 && job.begin() == NewestComplete(job) ? std::next(job.begin()) : job.begin();
}

// Removes from `job` the checkpoints that may be forgotten now, and returns them, so that their memory is freed only
// after the lock is released.
std::vector<MemoryTier::Checkpoint> MemoryTier::TakeSurplus(Job& job) {
  std::vector<Checkpoint> surplus;
  const auto is_too_old = [&job] {
    const auto complete = NewestComplete(job);
    return complete != job.end() && job.begin() != complete;
  };
  while (job.size() > kMostCheckpoints || is_too_old()) {
    const auto first = is_too_old() ? job.begin() : FirstToForget(job);
    surplus.push_back(std::move(first->second));
    job.erase(first);
  }
  return surplus;
}

void MemoryTier::Keep(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment) {
  std::vector<Checkpoint> surplus;
  const common::MutexLock lock(mutex_);
  Job& job = jobs_[job_uid];
  for (const auto& [other, checkpoint] : job) {
    if (key < other && checkpoint.manifest.has_value()) return;
  }
  SegmentPtr held = FindLocked(job, xxh3);
  job[key].shards.try_emplace(xxh3, held != nullptr ? std::move(held) : std::move(segment));
  surplus = TakeSurplus(job);
}

MemoryTier::SegmentPtr MemoryTier::Find(const std::string& job_uid, const std::string& xxh3) const {
  const common::MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  return job == jobs_.end() ? nullptr : FindLocked(job->second, xxh3);
}

void MemoryTier::Drop(const std::string& job_uid, const std::string& xxh3) {
  std::vector<SegmentPtr> dropped;
  const common::MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return;
  for (auto& [key, checkpoint] : job->second) {
    const auto found = checkpoint.shards.find(xxh3);
    if (found == checkpoint.shards.end()) continue;
    dropped.push_back(std::move(found->second));
    checkpoint.shards.erase(found);
  }
}

bool MemoryTier::PutManifest(const Manifest& manifest) {
  std::vector<Checkpoint> surplus;
  const common::MutexLock lock(mutex_);
  Job& job = jobs_[manifest.job_uid];
  const CheckpointKey key = KeyOf(manifest);
  for (const auto& [other, checkpoint] : job) {
    if (other.generation > key.generation) return false;
    if (key < other && checkpoint.manifest.has_value()) return true;
  }
  job[key].manifest = manifest;
  surplus = TakeSurplus(job);
  return true;
}

std::vector<Manifest> MemoryTier::Manifests(const std::string& job_uid) const {
  const common::MutexLock lock(mutex_);
  std::vector<Manifest> manifests;
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return manifests;
  for (auto at = job->second.rbegin(); at != job->second.rend(); ++at) {
    if (at->second.manifest.has_value()) manifests.push_back(*at->second.manifest);
  }
  return manifests;
}

std::optional<Manifest> MemoryTier::FindManifest(const std::string& job_uid, const std::string& name) const {
  for (Manifest& manifest : Manifests(job_uid)) {
    if (FormatName(NameOf(manifest)) == name) return std::move(manifest);
  }
  return std::nullopt;
}

std::set<std::string> MemoryTier::Held(const std::string& job_uid) const {
  const common::MutexLock lock(mutex_);
  std::set<std::string> held;
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return held;
  for (const auto& [key, checkpoint] : job->second) {
    for (const auto& [xxh3, segment] : checkpoint.shards) held.insert(xxh3);
  }
  return held;
}

bool MemoryTier::ForgetOldest() {
  Checkpoint oldest;
  const common::MutexLock lock(mutex_);
  Job* most = nullptr;
  for (auto& [uid, job] : jobs_) {
    if (!job.empty() && (most == nullptr || job.size() > most->size())) most = &job;
  }
  if (most == nullptr) return false;
  const auto first = FirstToForget(*most);
  oldest = std::move(first->second);
  most->erase(first);
  return true;
}

void MemoryTier::KeepJobs(const std::set<std::string>& job_uids) {
  std::vector<Job> dropped;
  const common::MutexLock lock(mutex_);
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    if (job_uids.count(at->first)) {
      ++at;
      continue;
    }
    dropped.push_back(std::move(at->second));
    at = jobs_.erase(at);
  }
}

int64_t MemoryTier::bytes() const {
  const common::MutexLock lock(mutex_);
  std::set<const Staging::Segment*> seen;
  int64_t bytes = 0;
  for (const auto& [uid, job] : jobs_) {
    for (const auto& [key, checkpoint] : job) {
      for (const auto& [xxh3, segment] : checkpoint.shards) {
        if (seen.insert(segment.get()).second) bytes += segment->bytes();
      }
    }
  }
  return bytes;
}

absl::StatusOr<MemoryTier::SegmentPtr> OpenMakingRoom(Staging& staging, MemoryTier& tier, const SegmentOwner& owner,
                                                      int64_t bytes) {
  while (true) {
    auto segment = staging.Open(owner, bytes);
    if (!absl::IsResourceExhausted(segment.status()) || !tier.ForgetOldest()) return segment;
  }
}

std::optional<WholeShard> FindWhole(std::initializer_list<MemoryTier*> tiers, const std::string& job_uid,
                                    const std::string& xxh3) {
  for (MemoryTier* tier : tiers) {
    MemoryTier::SegmentPtr segment = tier->Find(job_uid, xxh3);
    if (segment == nullptr) continue;
    auto memory = segment->Map();
    if (memory.ok() && common::Xxh3_128Hex((*memory)->data(), (*memory)->size()) == xxh3) {
      return WholeShard{std::move(segment), *std::move(memory)};
    }
    log::Warning("damaged in memory", {{"shard", xxh3}});
    tier->Drop(job_uid, xxh3);
  }
  return std::nullopt;
}

}  // namespace rekindle::checkpoint
