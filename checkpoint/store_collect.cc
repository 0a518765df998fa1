// Garbage collection of a store: what is removed, in which order, and why it is safe beside writers and pins.
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

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

struct Store::Sweep {
  std::string job_uid;
  double now = 0;
  bool dry_run = false;
  std::vector<StoredCheckpoint> keep, drop;
  std::map<std::string, std::string> texts;  // Manifests that were removed, as they were.
  std::map<std::string, int64_t> orphans;    // Shards that nothing names, and their sizes.
  Collected done;

  void Stays(const StoredCheckpoint& checkpoint, const std::string& reason) {
    keep.push_back(checkpoint);
    std::erase(done.manifests, checkpoint.name);
    for (Verdict& verdict : done.verdicts) {
      if (verdict.name == checkpoint.name) verdict = {checkpoint.name, Fate::kKeep, reason};
    }
  }
};

namespace {

std::vector<Candidate> CandidatesOf(const std::vector<StoredCheckpoint>& all) {
  std::vector<Candidate> candidates;
  for (const StoredCheckpoint& checkpoint : all) {
    const auto name = ParseName(checkpoint.name);  // The manifest may be unreadable.
    candidates.push_back({.name = checkpoint.name,
                          .step = name.ok() ? name->step : 0,
                          .written = checkpoint.written,
                          .whole = checkpoint.problem.empty(),
                          .validation_loss = checkpoint.manifest.validation_loss});
  }
  return candidates;
}

std::string ManifestFile(const std::string& name) { return name + ".json"; }

// Shards that nothing names may go, so every manifest that stays must be one whose shards are known.
absl::Status CheckKnown(const std::vector<StoredCheckpoint>& staying) {
  for (const StoredCheckpoint& checkpoint : staying) {
    if (!checkpoint.of_newer_release) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("nothing was removed, as it may need it: ", checkpoint.name, ": ", checkpoint.problem));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Collected> Store::Collect(const std::string& job_uid, const Retention& retention, double now,
                                         const CollectOptions& options) {
  if (absl::Status status = CheckRetention(retention); !status.ok()) return status;
  const auto check_generation = [&] {
    return options.generation > 0 ? CheckGeneration(job_uid, options.generation) : absl::OkStatus();
  };
  if (absl::Status status = check_generation(); !status.ok()) return status;
  if (absl::Status status = options.dry_run ? absl::OkStatus() : Recover(job_uid); !status.ok()) return status;
  const auto all = List(job_uid);
  if (!all.ok()) return all.status();
  if (absl::Status status = CheckKnown(*all); !status.ok()) return status;
  const auto pinned = Pinned(job_uid);
  if (!pinned.ok()) return pinned.status();
  Sweep sweep{.job_uid = job_uid, .now = now, .dry_run = options.dry_run};
  sweep.done.verdicts = Decide(CandidatesOf(*all), retention, *pinned, now);
  for (size_t i = 0; i < all->size(); ++i) {
    Fate fate = sweep.done.verdicts[i].fate;
    if (fate == Fate::kArchive) {
      const absl::StatusOr<bool> there = options.archive ? options.archive->HasCopy((*all)[i].manifest) : false;
      if (!there.ok()) return there.status();
      if (!*there) fate = Fate::kKeep;
    }
    (fate == Fate::kKeep ? sweep.keep : sweep.drop).push_back((*all)[i]);
  }
  if (absl::Status status = check_generation(); !status.ok()) return status;  // Looking may have taken long.
  if (absl::Status status = Run(sweep); !status.ok()) return status;
  if (absl::Status status = options.dry_run ? absl::OkStatus() : ForgetGenerations(job_uid); !status.ok())
    return status;
  return std::move(sweep.done);
}

absl::StatusOr<Collected> Store::Remove(const std::string& job_uid, const std::vector<std::string>& names, bool force,
                                        double now) {
  if (absl::Status status = Recover(job_uid); !status.ok()) return status;
  const auto all = List(job_uid);
  if (!all.ok()) return all.status();
  const auto pinned = Pinned(job_uid);
  if (!pinned.ok()) return pinned.status();
  std::set<std::string> wanted(names.begin(), names.end());
  Sweep sweep{.job_uid = job_uid, .now = now};
  const auto newest = std::find_if(all->begin(), all->end(), [](const auto& one) { return one.problem.empty(); });
  for (const StoredCheckpoint& checkpoint : *all) {
    const bool goes = wanted.erase(checkpoint.name) > 0;
    if (goes && !force && pinned->contains(checkpoint.name)) {
      return absl::FailedPreconditionError(checkpoint.name + " is pinned: unpin it first, or remove it by force");
    }
    if (goes && !force && newest != all->end() && newest->name == checkpoint.name) {
      return absl::FailedPreconditionError(checkpoint.name + " is the newest whole checkpoint: what a restore takes. " +
                                           "Remove it by force if that is what you want");
    }
    (goes ? sweep.drop : sweep.keep).push_back(checkpoint);
    sweep.done.verdicts.push_back({checkpoint.name, goes ? Fate::kRemove : Fate::kKeep, goes ? "was named" : ""});
  }
  if (!wanted.empty()) return absl::NotFoundError(*wanted.begin() + " is not in the store");
  if (absl::Status status = CheckKnown(sweep.keep); !status.ok()) return status;
  for (const StoredCheckpoint& checkpoint : sweep.drop) {
    if (!pinned->contains(checkpoint.name)) continue;
    if (absl::Status status = RemovePin(job_uid, checkpoint.name); !status.ok()) return status;
  }
  if (absl::Status status = Run(sweep); !status.ok()) return status;
  return std::move(sweep.done);
}

absl::Status Store::Run(Sweep& sweep) {
  // Manifests first, durably: a shard may go only when no manifest that could come back names it.
  absl::Status status = RemoveManifests(sweep);
  if (status.ok()) status = PutBackPinned(sweep);
  if (status.ok()) status = FindOrphans(sweep);
  if (status.ok()) status = RemoveOrphans(sweep);
  const auto is_unfinished = [&](const std::string& name) { return backend_->IsUnfinished(name); };
  for (const std::string& folder : {Manifests(sweep.job_uid), Shards(sweep.job_uid), Pins(sweep.job_uid)}) {
    if (status.ok()) status = RemoveOld(folder, is_unfinished, sweep);
  }
  // Of job.json; what else lies in that folder is nobody's here.
  const auto is_old_job = [&](const std::string& name) { return is_unfinished(name) && name.starts_with("job.json."); };
  if (status.ok()) status = RemoveOld(sweep.job_uid, is_old_job, sweep);
  const auto is_any = [](const std::string&) { return true; };  // Of collections that died.
  return status.ok() ? RemoveOld(Condemned(sweep.job_uid), is_any, sweep) : status;
}

// A collection that died after it had removed a manifest: whoever pinned it meanwhile was promised that it stays.
absl::Status Store::Recover(const std::string& job_uid) {
  if (!IsSafeName(job_uid)) return absl::InvalidArgumentError("the job uid is no safe name");
  const auto copies = backend_->List(Removed(job_uid));
  if (!copies.ok()) return copies.status();
  if (copies->empty()) return absl::OkStatus();
  const auto pinned = Pinned(job_uid);
  if (!pinned.ok()) return pinned.status();
  for (const std::string& file : *copies) {
    const std::string copy = absl::StrCat(Removed(job_uid), "/", file);
    const std::string name = absl::EndsWith(file, ".json") ? file.substr(0, file.size() - 5) : "";
    if (pinned->contains(name)) {
      const auto text = backend_->ReadAll(copy, kMaxManifestBytes);
      if (!text.ok()) return text.status();
      const std::string path = absl::StrCat(Manifests(job_uid), "/", file);
      if (absl::Status status = backend_->Put(path, *text); !status.ok()) return status;
    }
    if (absl::Status status = backend_->Remove(copy); !status.ok()) return status;
  }
  return backend_->Settle(Removed(job_uid));
}

absl::Status Store::RemoveManifests(Sweep& sweep) {
  for (const StoredCheckpoint& checkpoint : sweep.drop) {
    sweep.done.manifests.push_back(checkpoint.name);
    if (sweep.dry_run) continue;
    const std::string file = ManifestFile(checkpoint.name);
    const std::string path = absl::StrCat(Manifests(sweep.job_uid), "/", file);
    const auto text = backend_->ReadAll(path, kMaxManifestBytes);
    if (text.ok()) {
      const std::string copy = absl::StrCat(Removed(sweep.job_uid), "/", file);
      if (absl::Status status = backend_->Put(copy, *text); !status.ok()) return status;
      sweep.texts[checkpoint.name] = *text;
    } else if (!absl::IsNotFound(text.status()) && !absl::IsOutOfRange(text.status())) {
      return text.status();
    }
    if (absl::Status status = backend_->Remove(path); !status.ok()) return status;
  }
  return sweep.dry_run || sweep.drop.empty() ? absl::OkStatus() : backend_->Settle(Manifests(sweep.job_uid));
}

// store_pins.cc says why pins are looked for again.
absl::Status Store::PutBackPinned(Sweep& sweep) {
  if (sweep.dry_run || sweep.drop.empty()) return absl::OkStatus();
  const auto pinned = Pinned(sweep.job_uid);
  if (!pinned.ok()) return pinned.status();
  const auto stays = [&](const StoredCheckpoint& checkpoint) { return pinned->contains(checkpoint.name); };
  for (const StoredCheckpoint& checkpoint : sweep.drop) {
    const auto text = sweep.texts.find(checkpoint.name);
    if (!stays(checkpoint) || text == sweep.texts.end()) continue;
    const std::string path = absl::StrCat(Manifests(sweep.job_uid), "/", ManifestFile(checkpoint.name));
    if (absl::Status status = backend_->Put(path, text->second); !status.ok()) return status;
    sweep.Stays(checkpoint, "was pinned meanwhile");
  }
  std::erase_if(sweep.drop, stays);
  for (const auto& [name, text] : sweep.texts) {
    const std::string copy = absl::StrCat(Removed(sweep.job_uid), "/", ManifestFile(name));
    if (absl::Status status = backend_->Remove(copy); !status.ok()) return status;
  }
  return sweep.texts.empty() ? absl::OkStatus() : backend_->Settle(Removed(sweep.job_uid));
}

absl::Status Store::FindOrphans(Sweep& sweep) {
  std::set<std::string> named;
  for (const StoredCheckpoint& checkpoint : sweep.keep) {
    for (const ShardRef& ref : checkpoint.manifest.shards) named.insert(ref.name);
  }
  // Shard -> when the last dropped manifest that named it was written.
  std::map<std::string, double> dropped;
  for (const StoredCheckpoint& checkpoint : sweep.drop) {
    for (const ShardRef& ref : checkpoint.manifest.shards) {
      double& written = dropped[ref.name];
      written = std::max(written, checkpoint.written);
    }
  }
  const auto files = backend_->List(Shards(sweep.job_uid));
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (named.contains(file) || !absl::EndsWith(file, ".safetensors")) continue;
    const std::string path = Shards(sweep.job_uid) + "/" + file;
    const auto info = backend_->Stat(path);
    if (absl::IsNotFound(info.status())) continue;
    if (!info.ok()) return info.status();
    // Put again after its manifest was written: a checkpoint on its way counts on it.
    const auto was = dropped.find(file);
    const bool only_dropped = was != dropped.end() && info->modified <= was->second;
    if (!only_dropped && sweep.now - info->modified <= grace_seconds_) continue;
    if (sweep.orphans.size() < kMaxOrphans) sweep.orphans[file] = info->size;
  }
  return absl::OkStatus();
}

// The shards of manifests that have come since this collection looked.
absl::StatusOr<std::set<std::string>> Store::NamedSince(const Sweep& sweep) {
  std::set<std::string> known, named;
  for (const StoredCheckpoint& checkpoint : sweep.keep) known.insert(checkpoint.name);
  const auto names = Names(sweep.job_uid, nullptr);
  if (!names.ok()) return names.status();
  for (const ManifestName& name : *names) {
    if (known.contains(FormatName(name))) continue;
    const auto manifest = ReadManifest(sweep.job_uid, FormatName(name));
    if (absl::IsNotFound(manifest.status())) continue;
    if (!manifest.ok()) return manifest.status();
    for (const ShardRef& ref : manifest->shards) named.insert(ref.name);
  }
  return named;
}

// Times tell what is in use as a rule, but not of a collector that freezes half-way or has a wrong clock. So it lists
// what it will remove, then looks for new manifests, then removes; a writer puts its manifest, then looks at the lists
// (CheckSpared). Whatever the delays, one of the two sees the other. A list that a dead collector leaves goes after the
// grace.
absl::Status Store::RemoveOrphans(Sweep& sweep) {
  if (sweep.orphans.empty()) return absl::OkStatus();
  const std::string list = Condemned(sweep.job_uid) + "/" + UniqueName();
  std::string text;
  for (const auto& [shard, bytes] : sweep.orphans) absl::StrAppend(&text, shard, "\n");
  if (absl::Status status = sweep.dry_run ? absl::OkStatus() : backend_->Put(list, text); !status.ok()) return status;
  const auto spared = NamedSince(sweep);
  if (!spared.ok()) return spared.status();
  for (const auto& [shard, bytes] : sweep.orphans) {
    if (!sweep.dry_run && spared->contains(shard)) continue;
    const std::string path = Shards(sweep.job_uid) + "/" + shard;
    // On an error the list stays: the removal may still happen.
    if (absl::Status status = sweep.dry_run ? absl::OkStatus() : backend_->Remove(path); !status.ok()) return status;
    ++sweep.done.shards;
    sweep.done.bytes += bytes;
  }
  return sweep.dry_run ? absl::OkStatus() : backend_->Remove(list);
}

absl::Status Store::RemoveOld(const std::string& folder, const std::function<bool(const std::string&)>& which,
                              Sweep& sweep) {
  const auto files = backend_->List(folder);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    if (!which(file)) continue;
    const std::string path = folder + "/" + file;
    const auto info = backend_->Stat(path);
    if (!info.ok() || sweep.now - info->modified <= grace_seconds_) continue;
    if (absl::Status status = sweep.dry_run ? absl::OkStatus() : backend_->Remove(path); !status.ok()) return status;
    ++sweep.done.temporary;
    sweep.done.bytes += info->size;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::checkpoint
