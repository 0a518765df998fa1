#include "checkpoint/job/job_checkpoints.h"

#include "absl/strings/str_cat.h"
#include "checkpoint/format/manifest_release.h"
#include "checkpoint/job/job_manifests.h"
#include "checkpoint/job/job_shards.h"

namespace rekindle::checkpoint {

absl::StatusOr<Manifest> JobCheckpoints::LookAt(const std::string& name, const SearchOptions& options, bool* damaged) {
  *damaged = false;
  auto manifest = JobManifests(folder_).Read(name);
  if (!manifest.ok()) {
    *damaged = absl::IsDataLoss(manifest.status()) || absl::IsInvalidArgument(manifest.status());
    return manifest;
  }
  if (absl::Status status = CheckPlanes(*manifest, options); !status.ok()) return status;
  JobShards shards(folder_);
  const absl::Status whole = options.verify ? shards.Verify(manifest->shards) : shards.CheckPresent(manifest->shards);
  *damaged = absl::IsDataLoss(whole);
  if (!whole.ok()) return whole;
  return manifest;
}

absl::StatusOr<SearchResult> JobCheckpoints::FindNewest(const SearchOptions& options) {
  SearchResult newest;
  std::vector<std::string> foreign;
  const auto names = JobManifests(folder_).Names(&foreign);
  if (!names.ok()) return names.status();
  for (const std::string& file : foreign) newest.skipped.push_back(file + ": not named as a checkpoint");
  if (!names->empty()) newest.highest_generation = names->front().generation;
  bool reached = options.name.empty();
  for (const ManifestName& parsed : *names) {
    const std::string name = FormatName(parsed);
    const bool asked_for = name == options.name;
    reached = reached || asked_for;
    if (!reached) continue;
    bool damaged = false;
    auto manifest = LookAt(name, options, &damaged);
    const std::string reason(manifest.status().message());
    // A manifest of a newer release is not damaged, so falling back to an older checkpoint would lose steps.
    if (IsOfNewerRelease(manifest.status())) {
      return absl::Status(manifest.status().code(), absl::StrCat(name, ": ", reason));
    }
    if (manifest.ok()) {
      newest.found = true;
      newest.durable = true;
      newest.name = name;
      newest.manifest = *std::move(manifest);
      break;
    }
    newest.skipped.push_back(absl::StrCat(name, ": ", reason));
    if (damaged) newest.damaged.push_back({name, reason});
    if (!asked_for || damaged) continue;
    newest.missing = reason;
    break;
  }
  if (!reached) newest.missing = "its manifest is not there";
  return newest;
}

absl::StatusOr<std::vector<StoredCheckpoint>> JobCheckpoints::List() {
  JobManifests manifests(folder_);
  const auto names = manifests.Names();
  if (!names.ok()) return names.status();
  std::vector<StoredCheckpoint> all;
  for (const ManifestName& parsed : *names) {
    StoredCheckpoint checkpoint{.name = FormatName(parsed)};
    auto manifest = manifests.Read(checkpoint.name);
    absl::Status status = manifest.ok() ? JobShards(folder_).CheckPresent(manifest->shards) : manifest.status();
    checkpoint.of_newer_release = IsOfNewerRelease(status);
    // If the store cannot tell whether a checkpoint is whole, the job's checkpoints are not listed at all. Otherwise a
    // caller would draw wrong conclusions from the list.
    if (!status.ok() && !IsBroken(status) && !checkpoint.of_newer_release) return status;
    if (manifest.ok()) checkpoint.manifest = *std::move(manifest);
    for (const ShardRef& ref : checkpoint.manifest.shards) checkpoint.bytes += ref.bytes;
    const auto info = folder_.backend().Stat(folder_.Manifest(checkpoint.name));
    if (info.ok()) checkpoint.written = info->modified;
    checkpoint.problem = std::string(status.message());
    all.push_back(std::move(checkpoint));
  }
  return all;
}

absl::StatusOr<bool> JobCheckpoints::HasCopy(const Manifest& manifest) {
  const auto here = JobManifests(folder_).Read(FormatName(NameOf(manifest)));
  if (IsBroken(here.status())) return false;
  if (!here.ok()) return here.status();
  const absl::Status present = JobShards(folder_).CheckPresent(manifest.shards);
  if (!present.ok() && !IsBroken(present)) return present;
  return present.ok() && *here == manifest;
}

}  // namespace rekindle::checkpoint
