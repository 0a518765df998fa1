// Garbage collection of a store: what is removed, in which order, and why it is safe beside writers.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMaxOrphans = 1 << 16;  // In one list; the rest has to wait for the next collection.

// Unlike any other process's or call's.
std::string UniqueName() {
  static const unsigned process = std::random_device{}();
  static std::atomic<unsigned> counter{0};
  return absl::StrCat(absl::Hex(process, absl::kZeroPad8), "-", ++counter);
}

}  // namespace

absl::StatusOr<Collected> Store::Collect(const std::string& job_uid, int keep_last, double now) {
  if (keep_last < 1) return absl::InvalidArgumentError("keep_last must be at least 1");
  const auto all = List(job_uid);
  if (!all.ok()) return all.status();
  std::vector<StoredCheckpoint> keep, drop;
  int sound = 0;
  for (const StoredCheckpoint& checkpoint : *all) {
    // Broken ones never count: the last that can be restored must not go because of them.
    (sound < keep_last ? keep : drop).push_back(checkpoint);
    if (checkpoint.problem.empty()) ++sound;
  }
  Collected done;
  // Manifests first, durably: a shard may go only when no manifest that could come back names it.
  absl::Status status = RemoveManifests(job_uid, drop, &done);
  if (!status.ok()) return status;
  const auto orphans = FindOrphans(job_uid, keep, drop, now);
  if (!orphans.ok()) return orphans.status();
  if (!orphans->empty()) status = RemoveOrphans(job_uid, *all, *orphans, &done);
  const auto is_unfinished = [&](const std::string& name) { return backend_->IsUnfinished(name); };
  const auto is_any = [](const std::string&) { return true; };
  if (status.ok()) status = RemoveOld(Manifests(job_uid), is_unfinished, now, &done);
  if (status.ok()) status = RemoveOld(Shards(job_uid), is_unfinished, now, &done);
  if (status.ok()) status = RemoveOld(Condemned(job_uid), is_any, now, &done);
  if (!status.ok()) return status;
  return done;
}

absl::Status Store::RemoveManifests(const std::string& job_uid, const std::vector<StoredCheckpoint>& drop,
                                    Collected* done) {
  for (const StoredCheckpoint& checkpoint : drop) {
    const std::string path = absl::StrCat(Manifests(job_uid), "/", checkpoint.name, ".json");
    if (absl::Status status = backend_->Remove(path); !status.ok()) return status;
    done->manifests.push_back(checkpoint.name);
  }
  return drop.empty() ? absl::OkStatus() : backend_->Settle(Manifests(job_uid));
}

absl::StatusOr<std::vector<Store::Orphan>> Store::FindOrphans(const std::string& job_uid,
                                                              const std::vector<StoredCheckpoint>& keep,
                                                              const std::vector<StoredCheckpoint>& drop, double now) {
  std::set<std::string> named;
  for (const StoredCheckpoint& checkpoint : keep) {
    for (const ShardRef& ref : checkpoint.manifest.shards) named.insert(ref.name);
  }
  // Shard -> when the last dropped manifest that named it was written.
  std::map<std::string, double> dropped;
  for (const StoredCheckpoint& checkpoint : drop) {
    for (const ShardRef& ref : checkpoint.manifest.shards) {
      double& written = dropped[ref.name];
      written = std::max(written, checkpoint.written);
    }
  }
  const auto files = backend_->List(Shards(job_uid));
  if (!files.ok()) return files.status();
  std::vector<Orphan> orphans;
  for (const std::string& file : *files) {
    if (named.contains(file) || !absl::EndsWith(file, ".safetensors")) continue;
    const auto info = backend_->Stat(Shards(job_uid) + "/" + file);
    if (absl::IsNotFound(info.status())) continue;
    if (!info.ok()) return info.status();
    // Put again after its manifest was written: a checkpoint on its way counts on it.
    const auto was = dropped.find(file);
    const bool only_dropped = was != dropped.end() && info->modified <= was->second;
    if (!only_dropped && now - info->modified <= grace_seconds_) continue;
    if (orphans.size() < kMaxOrphans) orphans.push_back({.shard = file, .bytes = info->size});
  }
  return orphans;
}

// Times tell what is in use as a rule, but not of a collector that freezes half-way or has a wrong clock. So it lists
// what it will remove, then looks for new manifests, then removes; a writer puts its manifest, then looks at the lists
// (CheckSpared). Whatever the delays, one of the two sees the other. A list that a dead collector leaves goes after the
// grace.
absl::Status Store::RemoveOrphans(const std::string& job_uid, const std::vector<StoredCheckpoint>& known,
                                  const std::vector<Orphan>& orphans, Collected* done) {
  const std::string list = Condemned(job_uid) + "/" + UniqueName();
  std::string text;
  for (const Orphan& orphan : orphans) absl::StrAppend(&text, orphan.shard, "\n");
  if (absl::Status status = backend_->Put(list, text); !status.ok()) return status;

  std::set<std::string> seen, spared;
  for (const StoredCheckpoint& checkpoint : known) seen.insert(checkpoint.name);
  const auto names = Names(job_uid, nullptr);
  if (!names.ok()) return names.status();
  for (const ManifestName& name : *names) {
    if (seen.contains(FormatName(name))) continue;
    const auto manifest = ReadManifest(job_uid, FormatName(name));
    if (absl::IsNotFound(manifest.status())) continue;
    if (!manifest.ok()) return manifest.status();
    for (const ShardRef& ref : manifest->shards) spared.insert(ref.name);
  }
  for (const Orphan& orphan : orphans) {
    if (spared.contains(orphan.shard)) continue;
    const absl::Status status = backend_->Remove(Shards(job_uid) + "/" + orphan.shard);
    if (!status.ok()) return status;  // The list stays: the removal may still happen.
    ++done->shards;
    done->bytes += orphan.bytes;
  }
  return backend_->Remove(list);
}

absl::Status Store::RemoveOld(const std::string& folder, const std::function<bool(const std::string&)>& which,
                              double now, Collected* done) {
  const auto files = backend_->List(folder);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (!which(file)) continue;
    const std::string path = folder + "/" + file;
    const auto info = backend_->Stat(path);
    if (!info.ok() || now - info->modified <= grace_seconds_) continue;
    if (absl::Status status = backend_->Remove(path); !status.ok()) return status;
    ++done->temporary;
    done->bytes += info->size;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::checkpoint
