// Garbage collection of a store: what is removed, in which order, and why it is safe beside writers.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {

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
  if (status.ok()) status = RemoveOrphans(job_uid, keep, drop, now, &done);
  if (status.ok()) status = RemoveUnfinished(Manifests(job_uid), now, &done);
  if (status.ok()) status = RemoveUnfinished(Shards(job_uid), now, &done);
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

absl::Status Store::RemoveOrphans(const std::string& job_uid, const std::vector<StoredCheckpoint>& keep,
                                  const std::vector<StoredCheckpoint>& drop, double now, Collected* done) {
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
  for (const std::string& file : *files) {
    if (named.contains(file) || !absl::EndsWith(file, ".safetensors")) continue;
    const std::string path = Shards(job_uid) + "/" + file;
    const auto info = backend_->Stat(path);
    if (absl::IsNotFound(info.status())) continue;
    if (!info.ok()) return info.status();
    // Put again after its manifest was written: a checkpoint on its way counts on it.
    const auto was = dropped.find(file);
    const bool only_dropped = was != dropped.end() && info->modified <= was->second;
    if (!only_dropped && now - info->modified <= grace_seconds_) continue;
    if (absl::Status status = backend_->Remove(path); !status.ok()) return status;
    ++done->shards;
    done->bytes += info->size;
  }
  return absl::OkStatus();
}

absl::Status Store::RemoveUnfinished(const std::string& folder, double now, Collected* done) {
  const auto files = backend_->List(folder);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (!backend_->IsUnfinished(file)) continue;
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
