#include "checkpoint/service/tiers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

const char* NameOf(Tier tier) {
  switch (tier) {
    case Tier::kMemory:
      return "memory";
    case Tier::kPeer:
      return "peer";
    case Tier::kStore:
      return "store";
  }
  return "";
}

Tiers::Tiers(Staging& staging, MemoryTier& own, MemoryTier& copies, Peers& peers, common::Metrics& metrics)
    : staging_(staging),
      own_(own),
      copies_(copies),
      peers_(peers),
      waiting_(metrics.Gauge("rekindle_checkpoint_copies_waiting", "Shards on their way to a peer's memory.")),
      thread_([this](std::stop_token stop) { CopyLoop(stop); }) {}

Tiers::~Tiers() = default;

absl::StatusOr<Tiers::SegmentPtr> Tiers::Open(const SegmentOwner& owner, int64_t bytes) {
  return OpenMakingRoom(staging_, own_, owner, bytes);
}

void Tiers::HandOver(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment) {
  own_.Keep(job_uid, key, xxh3, segment);
  const common::MutexLock lock(mutex_);
  // The queue drops shards of older checkpoints that a slow peer has not received yet, because they would only hold
  // memory. Shards of the newest checkpoint in the queue hold no more memory than they did in staging.
  std::erase_if(queue_, [&](const Copy& copy) { return copy.job_uid == job_uid && copy.key < key; });
  queue_.push_back({job_uid, key, xxh3, std::move(segment)});
  TellWaiting();
  changed_.NotifyAll();
}

void Tiers::TellWaiting() { waiting_.Set(static_cast<double>(queue_.size() + (copying_ ? 1 : 0))); }

void Tiers::CopyLoop(std::stop_token stop) {
  common::MutexLock lock(mutex_);
  const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !queue_.empty(); };
  while (changed_.Wait(lock, stop, is_due) && !stop.stop_requested()) {
    const Copy copy = std::move(queue_.front());
    queue_.pop_front();
    copying_ = true;
    lock.Unlock();
    if (const Peer peer = peers_.Replica(); !peer.address.empty()) {
      const auto memory = copy.segment->Map();
      const absl::Status status =
          memory.ok() ? peers_.Hold(peer, copy.job_uid, copy.key, copy.xxh3, (*memory)->span()) : memory.status();
      if (!status.ok()) {
        log::Warning("a peer holds no copy of this shard",
                     {{"peer", peer.node}, {"shard", copy.xxh3}, {"error", std::string(status.message())}});
      }
    }
    lock.Lock();
    copying_ = false;
    TellWaiting();
  }
}

bool Tiers::Announce(const Manifest& manifest) {
  if (own_.FindManifest(manifest.job_uid, FormatName(NameOf(manifest)))) return true;
  if (!own_.PutManifest(manifest) || !copies_.PutManifest(manifest)) return false;
  peers_.PutManifest(manifest);
  return true;
}

bool Tiers::IsComplete(Store* store, const Manifest& manifest, const std::vector<PeerHoldings>& peers,
                       std::string* missing) const {
  for (const ShardRef& ref : manifest.shards) {
    if (own_.Find(manifest.job_uid, ref.xxh3) || copies_.Find(manifest.job_uid, ref.xxh3)) continue;
    const auto holds = [&](const PeerHoldings& peer) { return peer.held.count(ref.xxh3) > 0; };
    if (std::any_of(peers.begin(), peers.end(), holds)) continue;
    if (store != nullptr && store->Contains(manifest.job_uid, ref)) continue;
    *missing = absl::StrCat("was not durable yet, and plane ", ref.plane, " of shard ", ref.index, " of ", ref.count,
                            " is in no memory that can be reached");
    return false;
  }
  return true;
}

absl::StatusOr<SearchResult> Tiers::FindNamed(Store& store, const std::string& job_uid, const SearchOptions& options) {
  auto newest = store.FindNewest(job_uid, options);
  if (newest.ok() && newest->name == options.name) return newest;
  std::vector<PeerHoldings> peers = peers_.List(job_uid);
  std::vector<Manifest> manifests = own_.Manifests(job_uid);
  for (PeerHoldings& peer : peers)
    std::move(peer.manifests.begin(), peer.manifests.end(), std::back_inserter(manifests));
  for (const Manifest& manifest : manifests) {
    std::string missing;
    if (FormatName(NameOf(manifest)) != options.name || !CheckPlanes(manifest, options).ok()) continue;
    if (!IsComplete(nullptr, manifest, peers, &missing)) continue;
    SearchResult held{.found = true, .name = options.name, .manifest = manifest};
    if (newest.ok()) held.highest_generation = newest->highest_generation;
    return held;
  }
  return newest;
}

absl::StatusOr<SearchResult> Tiers::FindNewest(Store& store, const std::string& job_uid, const SearchOptions& options) {
  if (!options.name.empty()) return FindNamed(store, job_uid, options);
  const auto stored = store.ListNames(job_uid);
  if (!stored.ok()) return stored.status();
  const ManifestName newest_stored = stored->empty() ? ManifestName() : stored->front();
  const std::vector<PeerHoldings> peers = peers_.List(job_uid);
  std::map<CheckpointKey, Manifest> candidates;
  const auto add = [&](const std::vector<Manifest>& manifests) {
    for (const Manifest& manifest : manifests) {
      if (CheckPlanes(manifest, options).ok()) candidates.try_emplace(KeyOf(manifest), manifest);
    }
  };
  add(own_.Manifests(job_uid));
  for (const PeerHoldings& peer : peers) add(peer.manifests);

  SearchResult newest{.highest_generation = newest_stored.generation};
  const CheckpointKey stored_key{newest_stored.generation, newest_stored.step};
  for (auto at = candidates.rbegin(); at != candidates.rend() && at->first >= stored_key; ++at) {
    // If a checkpoint in memory has the (generation, step) of the store's newest one, only shards in nodes' memory
    // count for it. Should memory lack some of them, Store::FindNewest checks the store's checkpoint after the loop. If
    // the checkpoint in memory is newer, shards in the store count, too.
    const bool in_store = at->first == stored_key;
    const std::string name = FormatName(NameOf(at->second));
    std::string missing;
    if (IsComplete(in_store ? nullptr : &store, at->second, peers, &missing)) {
      newest.found = true;
      newest.durable = in_store;
      newest.name = name;
      newest.manifest = at->second;
      return newest;
    }
    if (!in_store) newest.skipped.push_back(absl::StrCat(name, ": ", missing));
  }
  auto from_store = store.FindNewest(job_uid, options);
  if (!from_store.ok()) return from_store.status();
  from_store->skipped.insert(from_store->skipped.begin(), newest.skipped.begin(), newest.skipped.end());
  return from_store;
}

absl::StatusOr<Manifest> Tiers::ReadManifest(Store& store, const std::string& job_uid, const std::string& name) {
  if (auto manifest = own_.FindManifest(job_uid, name)) return *std::move(manifest);
  auto stored = store.ReadManifest(job_uid, name);
  if (!absl::IsNotFound(stored.status())) return stored;
  for (PeerHoldings& peer : peers_.List(job_uid)) {
    for (Manifest& manifest : peer.manifests) {
      if (FormatName(NameOf(manifest)) == name) return std::move(manifest);
    }
  }
  return stored;
}

absl::StatusOr<Tiers::SegmentPtr> Tiers::MaterialiseFrom(const SegmentOwner& owner, const ShardRef& ref,
                                                         const std::function<bool()>& cancelled, const Fill& fill) {
  auto segment = Open(owner, ref.bytes);
  if (!segment.ok()) return segment.status();
  const auto memory = (*segment)->Map();
  absl::Status status = memory.status();
  if (status.ok()) {
    const auto place = [&](int64_t offset, const void* data, size_t bytes) {
      if (cancelled()) return absl::CancelledError("the caller has gone");
      if (data != (*memory)->data() + offset) std::memcpy((*memory)->data() + offset, data, bytes);
      return absl::OkStatus();
    };
    status = fill(place, (*memory)->data());
  }
  if (status.ok()) return *segment;
  staging_.Release(owner, {(*segment)->name});
  return status;
}

absl::StatusOr<Tiers::Materialised> Tiers::Materialise(Store& store, const SegmentOwner& owner, const ShardRef& ref,
                                                       const std::function<bool()>& cancelled) {
  auto held = FindWhole({&own_, &copies_}, owner.job_uid, ref.xxh3);
  if (held && held->segment->bytes() == ref.bytes) {
    return Materialised{held->segment, staging_.Share(owner, held->segment), Tier::kMemory};
  }
  for (const std::string& node : peers_.Holders(owner.job_uid, ref.xxh3)) {
    auto materialised = MaterialiseFrom(owner, ref, cancelled, [&](const Store::Sink& sink, uint8_t*) {
      common::Hasher hasher;
      const absl::Status fetched =
          peers_.Fetch(node, owner.job_uid, ref.xxh3, ref.bytes, [&](int64_t offset, const void* data, size_t bytes) {
            hasher.Update(data, bytes);
            return sink(offset, data, bytes);
          });
      if (!fetched.ok()) return fetched;
      return hasher.Hex() == ref.xxh3 ? absl::OkStatus() : absl::DataLossError("the peer's copy is damaged");
    });
    if (materialised.ok()) return Materialised{*materialised, (*materialised)->name, Tier::kPeer};
    log::Warning("not from this peer", {{"peer", node}, {"error", std::string(materialised.status().message())}});
    if (cancelled()) return materialised.status();
  }
  auto materialised = MaterialiseFrom(owner, ref, cancelled, [&](const Store::Sink& sink, uint8_t* memory) {
    return store.ReadShard(owner.job_uid, ref, sink, memory);
  });
  if (!materialised.ok()) return materialised.status();
  return Materialised{*materialised, (*materialised)->name, Tier::kStore};
}

}  // namespace rekindle::checkpoint
