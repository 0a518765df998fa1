#include "worker/train/testing/memory_checkpoints.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/hash.h"

namespace rekindle::train {

using checkpoint::Manifest;
using checkpoint::ShardRange;
using checkpoint::ShardRef;

class MemoryCheckpoints::Staged final : public checkpoint::StagedShards {
 public:
  Staged(MemoryCheckpoints& store, int generation, std::vector<ShardRange> ranges)
      : store_(store), generation_(generation), ranges_(std::move(ranges)) {}

  absl::Status Copy(const checkpoint::StateView& state) override {
    shards_.clear();
    refs_.clear();
    for (const ShardRange& range : ranges_) {
      std::vector<float> shard;
      for (const float* array : {state.weights, state.first_moment, state.second_moment}) {
        shard.insert(shard.end(), array + range.begin, array + range.end);
      }
      const size_t bytes = shard.size() * sizeof(float);
      const std::string xxh3 = common::Xxh3_128Hex(shard.data(), bytes);
      refs_.push_back(
          {xxh3 + ".safetensors", static_cast<int64_t>(bytes), xxh3, generation_, range.index, range.count});
      shards_.push_back(std::move(shard));
    }
    return absl::OkStatus();
  }
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override {
    std::lock_guard lock(store_.mutex_);
    if (store_.broken_) return absl::ResourceExhaustedError("the store of this test is full");
    for (size_t i = 0; i < refs_.size(); ++i) {
      store_.shards_[refs_[i].name] = shards_[i];
      store_.ranges_[refs_[i].name] = ranges_[i];
    }
    store_.changed_.notify_all();
    return absl::OkStatus();
  }

 private:
  MemoryCheckpoints& store_;
  const int generation_;
  const std::vector<ShardRange> ranges_;
  std::vector<std::vector<float>> shards_;
  std::vector<ShardRef> refs_;
};

class MemoryCheckpoints::Client final : public checkpoint::CheckpointClient {
 public:
  Client(MemoryCheckpoints& store, const std::string& trainer)
      : store_(store), writer_(checkpoint::SafeName(trainer)) {}

  absl::StatusOr<std::unique_ptr<checkpoint::StagedShards>> Stage(int generation, int, int64_t,
                                                                  const std::vector<ShardRange>& ranges) override {
    return std::make_unique<Staged>(store_, generation, ranges);
  }
  absl::StatusOr<std::string> WriteManifest(Manifest manifest, int, double wait_seconds) override {
    manifest.writer = writer_;
    const auto is_there = [&](const ShardRef& ref) { return store_.shards_.contains(ref.name); };
    std::unique_lock lock(store_.mutex_);
    const bool whole = store_.changed_.wait_for(lock, std::chrono::duration<double>(wait_seconds), [&] {
      return cancelled_ || std::all_of(manifest.shards.begin(), manifest.shards.end(), is_there);
    });
    if (cancelled_) return absl::CancelledError("the client was cancelled");
    if (!whole) return absl::NotFoundError("a shard of another rank is not there");
    if (store_.broken_) return absl::ResourceExhaustedError("the store of this test is full");
    const checkpoint::ManifestName name = NameOf(manifest);
    store_.manifests_[name] = manifest;
    return FormatName(name);
  }
  absl::StatusOr<checkpoint::Newest> FindNewest() override {
    std::lock_guard lock(store_.mutex_);
    checkpoint::Newest newest;
    if (store_.manifests_.empty()) return newest;
    const auto& [name, manifest] = *store_.manifests_.rbegin();
    return checkpoint::Newest{true, FormatName(name), manifest, {}, name.generation};
  }
  absl::StatusOr<checkpoint::Restored> Restore(int, const std::string& name,
                                               const checkpoint::MutableState& state) override {
    const auto parsed = checkpoint::ParseName(name);
    if (!parsed.ok()) return parsed.status();
    std::lock_guard lock(store_.mutex_);
    const Manifest& manifest = store_.manifests_.at(*parsed);
    for (const ShardRef& ref : manifest.shards) {
      const ShardRange& range = store_.ranges_.at(ref.name);
      const float* from = store_.shards_.at(ref.name).data();
      const int64_t count = range.end - range.begin;
      for (float* array : {state.weights, state.first_moment, state.second_moment}) {
        std::copy(from, from + count, array + range.begin);
        from += count;
      }
    }
    return checkpoint::Restored{.manifest = manifest};
  }
  absl::StatusOr<checkpoint::ServiceInfo> GetInfo() override { return checkpoint::ServiceInfo{}; }
  void Cancel() override {
    std::lock_guard lock(store_.mutex_);
    cancelled_ = true;
    store_.changed_.notify_all();
  }

 private:
  MemoryCheckpoints& store_;
  const std::string writer_;
  bool cancelled_ = false;  // Guarded by the store's mutex.
};

std::unique_ptr<checkpoint::CheckpointClient> MemoryCheckpoints::ClientOf(const std::string& trainer) {
  return std::make_unique<Client>(*this, trainer);
}

void MemoryCheckpoints::SetBroken(bool broken) {
  std::lock_guard lock(mutex_);
  broken_ = broken;
}

std::vector<checkpoint::ManifestName> MemoryCheckpoints::Names() {
  std::lock_guard lock(mutex_);
  std::vector<checkpoint::ManifestName> names;
  for (const auto& [name, manifest] : manifests_) names.push_back(name);
  return names;
}

}  // namespace rekindle::train
