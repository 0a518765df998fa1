#include "checkpoint/store/archive.h"

#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/objects/object_uri.h"

namespace rekindle::checkpoint {
namespace {

// Copies those bundles of the job that `to` lacks. One that is damaged stays where it is, because the state of a job is
// worth more than its code.
absl::Status CopyBundles(Store& from, Store& to, const std::string& job_uid, const CopyRoom& room) {
  const auto addresses = from.ListBundles(job_uid);
  if (!addresses.ok()) return addresses.status();
  for (const std::string& address : *addresses) {
    const auto there = to.HasBundle(job_uid, address);
    if (!there.ok()) return there.status();
    if (*there) continue;
    const auto packed = from.ReadBundle(job_uid, address);
    if (absl::IsDataLoss(packed.status()) || absl::IsNotFound(packed.status())) continue;
    if (!packed.ok()) return packed.status();
    absl::Status status = room ? room(static_cast<int64_t>(packed->size())) : absl::OkStatus();
    if (status.ok()) status = to.PutBundle(job_uid, address, *packed);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyCheckpoint(Store& from, Store& to, const std::string& job_uid, const std::string& name,
                            const CopyProgress& progress, const CopyRoom& room) {
  const auto manifest = from.ReadManifest(job_uid, name);
  if (!manifest.ok()) return manifest.status();
  int64_t done = 0, total = 0;
  for (const ShardRef& ref : manifest->shards) total += ref.bytes;
  for (const ShardRef& ref : manifest->shards) {
    if (progress && !progress(done, total)) return absl::CancelledError(name + ": the copy was given up");
    std::vector<uint8_t> content;
    const auto read = [&]() -> absl::StatusOr<std::span<const uint8_t>> {
      if (absl::Status status = room ? room(ref.bytes) : absl::OkStatus(); !status.ok()) return status;
      if (absl::Status status = from.ReadShard(job_uid, ref, &content); !status.ok()) return status;
      return content;
    };
    const auto put = to.PutShard(job_uid, read, ref.bytes, ref.xxh3);
    if (!put.ok()) return put.status();
    done += ref.bytes;
  }
  if (absl::Status status = CopyBundles(from, to, job_uid, room); !status.ok()) return status;
  if (progress) progress(done, total);
  return to.PutCopiedManifest(*manifest).status();
}

absl::StatusOr<Archived> ArchiveDue(Store& hot, Store& archive, const std::string& job_uid, const Retention& retention,
                                    double now, const CopyProgress& progress, const CopyRoom& room) {
  const auto planned = hot.Collect(job_uid, retention, now, {.dry_run = true});
  if (!planned.ok()) return planned.status();
  Archived archived;
  for (const Verdict& verdict : planned->verdicts) {
    if (verdict.fate != Fate::kArchive) continue;
    const absl::Status copied = CopyCheckpoint(hot, archive, job_uid, verdict.name, progress, room);
    if (absl::IsCancelled(copied)) return copied;
    if (copied.ok()) {
      archived.copied.push_back(verdict.name);
    } else {
      archived.problems.push_back(absl::StrCat(verdict.name, ": ", copied.message()));
    }
  }
  // Collect lists the job's checkpoints again. Copying may have taken longer than the grace period, and then it is not
  // safe to remove shards by the list that was made before.
  auto collected = hot.Collect(job_uid, retention, now, {.archive = &archive});
  if (!collected.ok()) return collected.status();
  archived.collected = *std::move(collected);
  return archived;
}

absl::Status CheckNotInArchive(Store& archive, const std::string& archive_uri, const std::string& job_uid) {
  const auto names = archive.ListNames(job_uid);
  if (!names.ok()) {
    return absl::Status(names.status().code(), absl::StrCat("the archive ", common::PublicUri(archive_uri),
                                                            " cannot be read: ", names.status().message()));
  }
  if (names->empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the store has no checkpoint to restore, but the archive ",
                                                    common::PublicUri(archive_uri), " has ", FormatName(names->front()),
                                                    ": bring it back with `rekindle checkpoint archive ", job_uid, " ",
                                                    FormatName(names->front()), " --restore`"));
}

}  // namespace rekindle::checkpoint
