#include "worker/train/testing/memory_checkpoints.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "checkpoint/client/staged_shards.h"

namespace rekindle::train {

using checkpoint::Manifest;
using checkpoint::Precision;
using checkpoint::ShardRange;
using checkpoint::ShardRef;

class MemoryCheckpoints::Staged final : public checkpoint::StagedShards {
 public:
  Staged(MemoryCheckpoints& store, const checkpoint::SnapshotKey& snapshot, std::vector<ShardRange> ranges)
      : store_(store),
        generation_(snapshot.generation),
        total_(snapshot.total),
        precision_(snapshot.precision),
        ranges_(std::move(ranges)) {}

  absl::Status Copy(const checkpoint::StateView& state) override {
    const common::MutexLock lock(copy_);
    if (!copied_.has_value()) {
      copied_ = CopyAll([&](const ShardRange& range, std::span<uint8_t> plane0, std::span<uint8_t> plane1) {
        return WritePlanes(state, range, precision_, plane0, plane1);
      });
    }
    return *copied_;
  }
  absl::Status CopySplit(const NextSplit& next) override {
    const common::MutexLock lock(copy_);
    return CopyAll([&](const ShardRange& range, std::span<uint8_t> plane0,
                       std::span<uint8_t> plane1) -> absl::StatusOr<checkpoint::WrittenPlanes> {
      const absl::StatusOr<checkpoint::SplitRange> split = next(range);
      if (!split.ok()) return split.status();
      return WriteSplitPlanes(*split, total_, range, precision_, plane0, plane1);
    });
  }
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override {
    const common::MutexLock lock(store_.mutex_);
    if (store_.broken_) return absl::ResourceExhaustedError("the store of this test is full");
    store_.files_.insert(files_.begin(), files_.end());
    store_.changed_.NotifyAll();
    return absl::OkStatus();
  }
  double held_up_seconds() const override { return 0; }

 private:
  using Write = std::function<absl::StatusOr<checkpoint::WrittenPlanes>(
      const ShardRange& range, std::span<uint8_t> plane0, std::span<uint8_t> plane1)>;

  absl::Status CopyAll(const Write& write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(copy_) {
    for (const ShardRange& range : ranges_) {
      const checkpoint::PlaneBytes room = SizeOfPlanes(total_, range, precision_, range.end - range.begin);
      std::vector<uint8_t> planes[] = {std::vector<uint8_t>(static_cast<size_t>(room.plane0)),
                                       std::vector<uint8_t>(static_cast<size_t>(room.plane1))};
      const auto written = write(range, planes[0], planes[1]);
      if (!written.ok()) return written.status();
      for (int plane = 0; plane < checkpoint::PlanesOf(precision_); ++plane) {
        const checkpoint::WrittenPlane& one = written->at(plane);
        planes[plane].resize(static_cast<size_t>(one.bytes));
        refs_.push_back({one.xxh3 + ".safetensors", one.bytes, one.xxh3, generation_, range.index, range.count, plane});
        files_[one.xxh3] = std::move(planes[plane]);
      }
    }
    return absl::OkStatus();
  }

  MemoryCheckpoints& store_;
  const int generation_;
  const int64_t total_;
  const Precision precision_;
  const std::vector<ShardRange> ranges_;
  // `files_` and `refs_` need no lock: CopyAll() fills them in, and they are only read after Copy() has returned.
  std::map<std::string, std::vector<uint8_t>> files_;
  std::vector<ShardRef> refs_;
  common::Mutex copy_;
  std::optional<absl::Status> copied_ ABSL_GUARDED_BY(copy_);
};

class MemoryCheckpoints::Client final : public checkpoint::CheckpointClient {
 public:
  Client(MemoryCheckpoints& store, const std::string& trainer)
      : store_(store), writer_(checkpoint::SafeName(trainer)) {}

  absl::StatusOr<std::unique_ptr<checkpoint::StagedShards>> Stage(const checkpoint::SnapshotKey& snapshot,
                                                                  const std::vector<ShardRange>& ranges) override {
    if (snapshot.urgent) {
      const common::MutexLock lock(store_.mutex_);
      store_.urgent_steps_.insert(snapshot.step);
    }
    return std::make_unique<Staged>(store_, snapshot, ranges);
  }
  absl::StatusOr<std::string> WriteManifest(Manifest manifest, const checkpoint::JobFile& job_file,
                                            const checkpoint::Retention&, double wait_seconds) override {
    manifest.writer = writer_;
    const auto is_there = [&](const ShardRef& ref)
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_.mutex_) { return store_.files_.contains(ref.xxh3); };
    const auto is_over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(store_.mutex_) {
      return cancelled_ || std::all_of(manifest.shards.begin(), manifest.shards.end(), is_there);
    };
    common::MutexLock lock(store_.mutex_);
    const bool whole = store_.changed_.WaitFor(lock, std::chrono::duration<double>(wait_seconds), is_over);
    if (cancelled_) return absl::CancelledError("the client was cancelled");
    if (!whole) return absl::NotFoundError("a shard of another rank is not there");
    if (store_.broken_) return absl::ResourceExhaustedError("the store of this test is full");
    if (manifest.generation <= store_.refused_) return absl::FailedPreconditionError("the generation is over");
    if (!job_file.text.empty()) store_.SetJobFile(job_file.text);
    if (job_file.required && store_.job_file_.empty()) return absl::AbortedError("the job has no file in this store");
    const checkpoint::ManifestName name = NameOf(manifest);
    store_.manifests_[name] = manifest;
    return FormatName(name);
  }
  absl::Status KeepManifest(Manifest manifest) override {
    manifest.writer = writer_;
    const common::MutexLock lock(store_.mutex_);
    if (manifest.generation <= store_.refused_) return absl::FailedPreconditionError("the generation is over");
    store_.kept_[NameOf(manifest)] = manifest;
    return absl::OkStatus();
  }
  absl::Status WriteJobFile(int generation, const std::string& text, double) override {
    const common::MutexLock lock(store_.mutex_);
    if (store_.broken_) return absl::ResourceExhaustedError("the store of this test is full");
    if (generation <= store_.refused_) return absl::FailedPreconditionError("the generation is over");
    store_.SetJobFile(text);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> ReadJobFile() override {
    const common::MutexLock lock(store_.mutex_);
    if (store_.unreadable_) return absl::PermissionDeniedError("the store of this test cannot be read");
    if (store_.job_file_.empty()) return absl::NotFoundError("there is no job.json");
    return store_.job_file_;
  }
  absl::StatusOr<checkpoint::SearchResult> FindNewest(bool) override {
    const common::MutexLock lock(store_.mutex_);
    if (store_.unreadable_) return absl::PermissionDeniedError("the store of this test cannot be read");
    const bool any_kept = !store_.kept_.empty(), any_stored = !store_.manifests_.empty();
    if (any_kept && (!any_stored || store_.manifests_.rbegin()->first < store_.kept_.rbegin()->first)) {
      return Found(store_.kept_.rbegin()->second, /*durable=*/false);
    }
    return any_stored ? Found(store_.manifests_.rbegin()->second) : checkpoint::SearchResult{};
  }
  absl::StatusOr<checkpoint::SearchResult> FindNamed(const std::string& name, bool) override {
    const auto parsed = checkpoint::ParseName(name);
    if (!parsed.ok()) return parsed.status();
    const common::MutexLock lock(store_.mutex_);
    if (store_.unreadable_) return absl::PermissionDeniedError("the store of this test cannot be read");
    const auto kept = store_.kept_.find(*parsed);
    if (kept != store_.kept_.end()) return Found(kept->second, /*durable=*/false);
    const auto at = store_.manifests_.find(*parsed);
    if (at == store_.manifests_.end())
      return checkpoint::SearchResult{.missing = "it is not in the store of this test"};
    return Found(at->second);
  }
  absl::StatusOr<checkpoint::Restored> RestoreShards(int, const std::string& name, int64_t,
                                                     const checkpoint::ReadShard& read_shard) override {
    const auto parsed = checkpoint::ParseName(name);
    if (!parsed.ok()) return parsed.status();
    const common::MutexLock lock(store_.mutex_);
    const bool is_kept = store_.kept_.contains(*parsed);
    const Manifest& manifest = is_kept ? store_.kept_.at(*parsed) : store_.manifests_.at(*parsed);
    const bool exact = PlanesOf(manifest) == checkpoint::kMaxPlanes;
    for (const ShardRef& ref : manifest.shards) {
      if (ref.plane > 0) continue;
      const ShardRef* second = exact ? &ref + 1 : nullptr;
      const std::vector<uint8_t> none;
      const auto read =
          read_shard(store_.files_.at(ref.xxh3), second != nullptr ? store_.files_.at(second->xxh3) : none);
      if (!read.ok()) return read.status();
    }
    return checkpoint::Restored{.manifest = manifest, .exact = exact};
  }
  absl::StatusOr<checkpoint::ServiceInfo> GetInfo() override { return checkpoint::ServiceInfo{}; }
  void Cancel() override {
    const common::MutexLock lock(store_.mutex_);
    cancelled_ = true;
    store_.changed_.NotifyAll();
  }

 private:
  static checkpoint::SearchResult Found(const Manifest& manifest, bool durable = true) {
    checkpoint::SearchResult newest{.found = true, .durable = durable, .name = FormatName(NameOf(manifest))};
    newest.manifest = manifest;
    newest.highest_generation = manifest.generation;
    return newest;
  }

  MemoryCheckpoints& store_;
  const std::string writer_;
  bool cancelled_ ABSL_GUARDED_BY(store_.mutex_) = false;
};

std::unique_ptr<checkpoint::CheckpointClient> MemoryCheckpoints::ClientOf(const std::string& trainer) {
  return std::make_unique<Client>(*this, trainer);
}

void MemoryCheckpoints::SetBroken(bool broken) {
  const common::MutexLock lock(mutex_);
  broken_ = broken;
}

void MemoryCheckpoints::Refuse(int generation) {
  const common::MutexLock lock(mutex_);
  refused_ = generation;
}

void MemoryCheckpoints::SetUnreadable(bool unreadable) {
  const common::MutexLock lock(mutex_);
  unreadable_ = unreadable;
}

std::set<int> MemoryCheckpoints::urgent_steps() {
  const common::MutexLock lock(mutex_);
  return urgent_steps_;
}

void MemoryCheckpoints::SetJobFile(const std::string& text) {
  job_file_ = text;
  changed_.NotifyAll();
}

std::string MemoryCheckpoints::job_file() {
  const common::MutexLock lock(mutex_);
  return job_file_;
}

bool MemoryCheckpoints::AwaitJobFile(const std::function<bool(const std::string&)>& fits) {
  common::MutexLock lock(mutex_);
  return changed_.WaitFor(lock, std::chrono::seconds(120),
                          [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return fits(job_file_); });
}

void MemoryCheckpoints::Clear() {
  const common::MutexLock lock(mutex_);
  files_.clear();
  manifests_.clear();
  kept_.clear();
  job_file_.clear();
}

std::vector<checkpoint::ManifestName> MemoryCheckpoints::Kept() {
  const common::MutexLock lock(mutex_);
  std::vector<checkpoint::ManifestName> names;
  for (const auto& [name, manifest] : kept_) names.push_back(name);
  return names;
}

std::vector<checkpoint::ManifestName> MemoryCheckpoints::Names() {
  const common::MutexLock lock(mutex_);
  std::vector<checkpoint::ManifestName> names;
  for (const auto& [name, manifest] : manifests_) names.push_back(name);
  return names;
}

}  // namespace rekindle::train
