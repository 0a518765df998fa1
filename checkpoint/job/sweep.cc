#include "checkpoint/job/sweep.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/job/condemned_shards.h"
#include "checkpoint/job/job_manifests.h"
#include "checkpoint/job/pins.h"

namespace rekindle::checkpoint {
namespace {

// One collection removes at most `kMaxOrphans` shards. The others wait for the next collection.
constexpr size_t kMaxOrphans = 1 << 16;

}  // namespace

absl::Status RecoverSweep(const JobFolder& folder) {
  StoreBackend& backend = folder.backend();
  if (absl::Status status = folder.Check(); !status.ok()) return status;
  const auto copies = backend.List(folder.Removed());
  if (!copies.ok()) return copies.status();
  if (copies->empty()) return absl::OkStatus();
  const auto pinned = Pins(folder).Names();
  if (!pinned.ok()) return pinned.status();
  for (const std::string& file : *copies) {
    const std::string copy = absl::StrCat(folder.Removed(), "/", file);
    const std::string name = JobFolder::CheckpointOf(file);
    if (pinned->contains(name)) {
      const auto text = backend.ReadAll(copy, kMaxManifestBytes);
      if (!text.ok()) return text.status();
      if (absl::Status status = backend.Put(folder.Manifest(name), *text); !status.ok()) return status;
    }
    if (absl::Status status = backend.Remove(copy); !status.ok()) return status;
  }
  return backend.SyncFolder(folder.Removed());
}

absl::StatusOr<Collected> Sweep::Run() {
  // Manifests are removed first, and durably, because a shard may be removed only when no manifest names it, not even
  // one that a crash of the machine would bring back.
  absl::Status status = RemoveManifests();
  if (status.ok()) status = PutBackPinned();
  if (status.ok()) status = FindOrphans();
  if (status.ok()) status = RemoveOrphans();
  if (status.ok()) status = RemoveLeftovers();
  if (!status.ok()) return status;
  return std::move(done_);
}

absl::Status Sweep::Remove(const std::string& path) {
  return options_.dry_run ? absl::OkStatus() : folder_.backend().Remove(path);
}

void Sweep::Spare(const StoredCheckpoint& checkpoint, const std::string& reason) {
  keep_.push_back(checkpoint);
  std::erase(done_.manifests, checkpoint.name);
  for (Verdict& verdict : done_.verdicts) {
    if (verdict.name == checkpoint.name) verdict = {checkpoint.name, Fate::kKeep, reason};
  }
}

absl::Status Sweep::RemoveManifests() {
  StoreBackend& backend = folder_.backend();
  for (const StoredCheckpoint& checkpoint : drop_) {
    done_.manifests.push_back(checkpoint.name);
    if (options_.dry_run) continue;
    const std::string path = folder_.Manifest(checkpoint.name);
    const auto text = backend.ReadAll(path, kMaxManifestBytes);
    if (text.ok()) {
      if (absl::Status status = backend.Put(folder_.Removed(checkpoint.name), *text); !status.ok()) return status;
      texts_[checkpoint.name] = *text;
    } else if (!absl::IsNotFound(text.status()) && !absl::IsOutOfRange(text.status())) {
      return text.status();
    }
    if (absl::Status status = backend.Remove(path); !status.ok()) return status;
  }
  return options_.dry_run || drop_.empty() ? absl::OkStatus() : backend.SyncFolder(folder_.Manifests());
}

// Puts back the manifests of checkpoints that were pinned meanwhile. pins.h says why pins are looked for again.
absl::Status Sweep::PutBackPinned() {
  if (options_.dry_run || drop_.empty()) return absl::OkStatus();
  StoreBackend& backend = folder_.backend();
  const auto pinned = Pins(folder_).Names();
  if (!pinned.ok()) return pinned.status();
  const auto stays = [&](const StoredCheckpoint& checkpoint) { return pinned->contains(checkpoint.name); };
  for (const StoredCheckpoint& checkpoint : drop_) {
    const auto text = texts_.find(checkpoint.name);
    if (!stays(checkpoint) || text == texts_.end()) continue;
    if (absl::Status status = backend.Put(folder_.Manifest(checkpoint.name), text->second); !status.ok()) return status;
    Spare(checkpoint, "was pinned meanwhile");
  }
  std::erase_if(drop_, stays);
  for (const auto& [name, text] : texts_) {
    if (absl::Status status = backend.Remove(folder_.Removed(name)); !status.ok()) return status;
  }
  return texts_.empty() ? absl::OkStatus() : backend.SyncFolder(folder_.Removed());
}

absl::Status Sweep::FindOrphans() {
  Names named;
  for (const StoredCheckpoint& checkpoint : keep_) {
    for (const ShardRef& ref : checkpoint.manifest.shards) named.insert(ref.name);
  }
  // `dropped` maps each shard of the removed manifests to the time when the last manifest that named it was written.
  std::map<std::string, double> dropped;
  for (const StoredCheckpoint& checkpoint : drop_) {
    for (const ShardRef& ref : checkpoint.manifest.shards) {
      double& written = dropped[ref.name];
      written = std::max(written, checkpoint.written);
    }
  }
  const auto files = folder_.backend().List(folder_.Shards());
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (named.contains(file) || !absl::EndsWith(file, ".safetensors")) continue;
    const auto info = folder_.backend().Stat(folder_.Shard(file));
    if (absl::IsNotFound(info.status())) continue;
    if (!info.ok()) return info.status();
    // A shard that was put again after its last removed manifest was written stays, because a checkpoint that is being
    // written relies on it.
    const auto was = dropped.find(file);
    const bool only_dropped = was != dropped.end() && info->modified <= was->second;
    if (!only_dropped && !IsOld(info->modified)) continue;
    if (orphans_.size() < kMaxOrphans) orphans_[file] = info->size;
  }
  return absl::OkStatus();
}

// Returns the shards of manifests that have appeared since this collection listed the manifests.
absl::StatusOr<Sweep::Names> Sweep::NamedSince() {
  Names known, named;
  for (const StoredCheckpoint& checkpoint : keep_) known.insert(checkpoint.name);
  JobManifests manifests(folder_);
  const auto names = manifests.Names();
  if (!names.ok()) return names.status();
  for (const ManifestName& name : *names) {
    if (known.contains(FormatName(name))) continue;
    const auto manifest = manifests.Read(FormatName(name));
    if (absl::IsNotFound(manifest.status())) continue;
    if (!manifest.ok()) return manifest.status();
    for (const ShardRef& ref : manifest->shards) named.insert(ref.name);
  }
  return named;
}

// Removes the shards that no manifest names. It first lists them as condemned, then looks for manifests that are new
// since the sweep began, and spares the shards of these. condemned_shards.h says why.
absl::Status Sweep::RemoveOrphans() {
  if (orphans_.empty()) return absl::OkStatus();
  std::string list;
  if (!options_.dry_run) {
    std::vector<std::string> files;
    for (const auto& [shard, bytes] : orphans_) files.push_back(shard);
    auto announced = CondemnedShards(folder_).Announce(files);
    if (!announced.ok()) return announced.status();
    list = *std::move(announced);
  }
  const auto spared = NamedSince();
  if (!spared.ok()) return spared.status();
  for (const auto& [shard, bytes] : orphans_) {
    if (!options_.dry_run && spared->contains(shard)) continue;
    // If a removal fails, the list of condemned shards stays, because the store may still remove the shard later.
    if (absl::Status status = Remove(folder_.Shard(shard)); !status.ok()) return status;
    ++done_.shards;
    done_.bytes += bytes;
  }
  return Remove(list);
}

absl::Status Sweep::RemoveLeftovers() {
  const auto is_unfinished = [&](const std::string& name) { return folder_.backend().IsUnfinished(name); };
  for (const std::string& folder : {folder_.Manifests(), folder_.Shards(), folder_.Pins()}) {
    if (absl::Status status = RemoveOld(folder, is_unfinished); !status.ok()) return status;
  }
  // The job's own folder contains job.json and bundles. Only unfinished versions of these are removed there, and all
  // other files in that folder are left alone.
  const auto is_old_job = [&](const std::string& name) {
    return is_unfinished(name) && (name.starts_with("job.json.") || name.starts_with(JobFolder::kBundlePrefix));
  };
  if (absl::Status status = RemoveOld(folder_.uid(), is_old_job); !status.ok()) return status;
  // The old lists of condemned shards belong to collections that died.
  return RemoveOld(folder_.Condemned(), [](const std::string&) { return true; });
}

absl::Status Sweep::RemoveOld(const std::string& folder, const std::function<bool(const std::string&)>& which) {
  const auto files = folder_.backend().List(folder);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (!which(file)) continue;
    const std::string path = folder + "/" + file;
    const auto info = folder_.backend().Stat(path);
    if (!info.ok() || !IsOld(info->modified)) continue;
    if (absl::Status status = Remove(path); !status.ok()) return status;
    ++done_.temporary;
    done_.bytes += info->size;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::checkpoint
