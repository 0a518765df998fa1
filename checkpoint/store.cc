#include "checkpoint/store.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "checkpoint/manifest_release.h"
#include "checkpoint/store_files.h"
#include "common/hash.h"

namespace rekindle::checkpoint {
namespace {

constexpr char kManifestSuffix[] = ".json";

absl::Status CheckJob(const std::string& job_uid) {
  if (IsSafeName(job_uid)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the job uid is not 1 to 128 of A-Z a-z 0-9 . _ - that begin with a letter or digit");
}

absl::Status CheckRef(const ShardRef& ref) {
  uint8_t hash[16];
  if (common::HexDecode(ref.xxh3, hash) && ref.name == ref.xxh3 + ".safetensors" && ref.bytes >= 1 &&
      ref.bytes <= kMaxShardBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a shard must be named by its XXH3-128 in hex and have 1 byte to 64 MiB");
}

std::string Describe(const ShardRef& ref) {
  return absl::StrCat("plane ", ref.plane, " of shard ", ref.index, " of ", ref.count, " (", ref.name, ")");
}

absl::Status Annotate(const absl::Status& status, const std::string& what) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

// A manifest that will never be valid, as opposed to one that cannot be read now.
bool IsBroken(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsInvalidArgument(status) ||
         absl::IsOutOfRange(status);
}

}  // namespace

Store::Store(common::FileSystem& fs, std::string root, double grace_seconds)
    : Store(std::make_shared<FileBackend>(fs, std::move(root)), grace_seconds) {}

absl::StatusOr<std::vector<ManifestName>> Store::Names(const std::string& job_uid, std::vector<std::string>* foreign) {
  if (absl::Status status = CheckJob(job_uid); !status.ok()) return status;
  const auto files = backend_->List(Manifests(job_uid));
  if (!files.ok()) return files.status();
  std::vector<ManifestName> names;
  for (const std::string& file : *files) {
    if (backend_->IsUnfinished(file)) continue;
    auto name = ParseName(absl::EndsWith(file, kManifestSuffix) ? file.substr(0, file.size() - 5) : "");
    if (name.ok()) {
      names.push_back(*std::move(name));
    } else if (foreign != nullptr) {
      foreign->push_back(file);
    }
  }
  std::sort(names.begin(), names.end(), std::greater<>());
  return names;
}

bool Store::IsThere(const std::string& job_uid, const ShardRef& ref) {
  const std::string path = Shards(job_uid) + "/" + ref.name;
  const auto info = backend_->Stat(path);
  // Touched first: a collection that runs now takes it for new.
  if (!info.ok() || info->size != ref.bytes || !backend_->Touch(path).ok()) return false;
  if (backend_->IsVerified(path)) return true;
  const bool whole = ReadShard(job_uid, ref, [](int64_t, const void*, size_t) { return absl::OkStatus(); }).ok();
  if (whole) backend_->SetVerified(path);
  return whole;
}

absl::StatusOr<ShardRef> Store::PutShard(const std::string& job_uid, const ShardContent& content, int64_t bytes,
                                         const std::string& xxh3) {
  const ShardRef ref{.name = xxh3 + ".safetensors", .bytes = bytes, .xxh3 = xxh3};
  if (absl::Status status = CheckJob(job_uid); !status.ok()) return status;
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;
  const std::string folder = Shards(job_uid);
  if (!IsThere(job_uid, ref)) {
    const auto given = content();
    if (!given.ok()) return given.status();
    if (given->size() != static_cast<size_t>(bytes)) {
      return absl::DataLossError(absl::StrCat("a shard has ", given->size(), " instead of ", bytes, " bytes"));
    }
    const absl::Status status = backend_->PutShard(folder + "/" + ref.name, *given, xxh3);
    if (!status.ok()) return status;
  }
  return ref;
}

bool Store::Contains(const std::string& job_uid, const ShardRef& ref) {
  if (!CheckJob(job_uid).ok() || !CheckRef(ref).ok()) return false;
  const auto info = backend_->Stat(Shards(job_uid) + "/" + ref.name);
  return info.ok() && info->size == ref.bytes;
}

absl::Status Store::CheckPresent(const std::string& job_uid, const Manifest& manifest) {
  std::vector<std::string> names;
  for (const ShardRef& ref : manifest.shards) names.push_back(ref.name);
  const auto infos = backend_->StatAll(Shards(job_uid), names);
  if (!infos.ok()) return Annotate(infos.status(), "its shards");
  for (size_t i = 0; i < names.size(); ++i) {
    const ShardRef& ref = manifest.shards[i];
    const auto& info = (*infos)[i];
    const std::string what = Describe(ref);
    if (!info.ok()) return absl::NotFoundError(what + " is not in the store");
    if (info->size != ref.bytes) {
      return absl::DataLossError(absl::StrCat(what, " has ", info->size, " bytes instead of ", ref.bytes));
    }
  }
  return absl::OkStatus();
}

// After the manifest is there, see RemoveOrphans.
absl::Status Store::CheckSpared(const Manifest& manifest) {
  const auto lists = backend_->List(Condemned(manifest.job_uid));
  if (!lists.ok()) return lists.status();
  for (const std::string& list : *lists) {
    if (backend_->IsUnfinished(list)) continue;
    const auto text = backend_->ReadAll(Condemned(manifest.job_uid) + "/" + list, kMaxManifestBytes);
    if (absl::IsNotFound(text.status())) continue;  // Its collection is over.
    if (!text.ok()) return text.status();
    const std::vector<std::string> names = absl::StrSplit(*text, '\n');
    const std::set<std::string> condemned(names.begin(), names.end());
    for (const ShardRef& ref : manifest.shards) {
      if (condemned.contains(ref.name)) {
        return absl::AbortedError(Describe(ref) + " is being collected by another process");
      }
    }
  }
  return CheckPresent(manifest.job_uid, manifest);
}

absl::StatusOr<std::string> Store::PutManifest(const Manifest& manifest, const JobFile& job) {
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  if (absl::Status status = CheckNewest(manifest.job_uid, manifest.generation); !status.ok()) return status;
  auto name = WriteManifest(manifest, job);
  if (!name.ok()) return name;
  // What was written is whole, and older than whatever the newer one writes.
  if (absl::Status status = CheckGeneration(manifest.job_uid, manifest.generation); !status.ok()) return status;
  return name;
}

absl::StatusOr<std::string> Store::PutCopiedManifest(const Manifest& manifest) {
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  return WriteManifest(manifest, {});
}

absl::StatusOr<bool> Store::HasCopy(const Manifest& manifest) {
  const auto here = ReadManifest(manifest.job_uid, FormatName(NameOf(manifest)));
  if (IsBroken(here.status())) return false;
  if (!here.ok()) return here.status();
  const absl::Status present = CheckPresent(manifest.job_uid, manifest);
  if (!present.ok() && !IsBroken(present)) return present;
  return present.ok() && *here == manifest;
}

absl::StatusOr<std::string> Store::WriteManifest(const Manifest& manifest, const JobFile& job) {
  if (absl::Status status = CheckPresent(manifest.job_uid, manifest); !status.ok()) return status;
  if (absl::Status status = PutBeside(manifest, job); !status.ok()) return status;
  // Shards were renamed, by any process, and their names not synced: a durable manifest must not precede them.
  if (absl::Status status = backend_->Settle(Shards(manifest.job_uid)); !status.ok()) return status;
  const std::string name = FormatName(NameOf(manifest));
  const std::string path = absl::StrCat(Manifests(manifest.job_uid), "/", name, kManifestSuffix);
  const bool is_new = absl::IsNotFound(backend_->Stat(path).status());
  if (absl::Status status = backend_->Put(path, EncodeManifest(manifest)); !status.ok()) return status;
  if (absl::Status status = CheckSpared(manifest); !status.ok()) {
    // One that was there before may be whole.
    if (is_new && (absl::IsAborted(status) || absl::IsNotFound(status))) backend_->Remove(path).IgnoreError();
    return status;
  }
  return name;
}

absl::StatusOr<Manifest> Store::ReadManifest(const std::string& job_uid, const std::string& name) {
  if (absl::Status status = CheckJob(job_uid); !status.ok()) return status;
  const auto parsed = ParseName(name);
  if (!parsed.ok()) return parsed.status();
  const auto text = backend_->ReadAll(absl::StrCat(Manifests(job_uid), "/", name, kManifestSuffix), kMaxManifestBytes);
  if (!text.ok()) return text.status();
  auto manifest = DecodeManifest(*text);
  if (!manifest.ok()) return manifest.status();
  if (NameOf(*manifest) != *parsed || manifest->job_uid != job_uid) {
    return absl::DataLossError(absl::StrCat("manifest: it is of job ", manifest->job_uid, ", ",
                                            FormatName(NameOf(*manifest)), ", not what its path says"));
  }
  return manifest;
}

absl::Status Store::ReadShard(const std::string& job_uid, const ShardRef& ref, const Sink& sink, uint8_t* into) {
  if (absl::Status status = CheckJob(job_uid); !status.ok()) return status;
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;
  const std::string what = Describe(ref);
  common::Hasher hasher;
  const auto hashed = [&](int64_t offset, const void* data, size_t bytes) {
    hasher.Update(data, bytes);
    return sink(offset, data, bytes);
  };
  const absl::Status read = backend_->Read(Shards(job_uid) + "/" + ref.name, ref.bytes, hashed, into);
  if (!read.ok()) return Annotate(read, what);
  if (hasher.Hex() != ref.xxh3) return absl::DataLossError(what + " is damaged: its bytes have another XXH3");
  return absl::OkStatus();
}

absl::Status Store::ReadShard(const std::string& job_uid, const ShardRef& ref, std::vector<uint8_t>* content) {
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;  // Its size is bounded.
  content->resize(static_cast<size_t>(ref.bytes));
  return ReadShard(job_uid, ref, [&](int64_t offset, const void* data, size_t n) {
    std::memcpy(content->data() + offset, data, n);
    return absl::OkStatus();
  });
}

absl::Status Store::VerifyShards(const std::string& job_uid, const Manifest& manifest, const Progress& progress) {
  // Sizes first: the cheap reasons to skip it.
  if (absl::Status status = CheckPresent(job_uid, manifest); !status.ok()) return status;
  int64_t total = 0, done = 0;
  for (const ShardRef& ref : manifest.shards) total += ref.bytes;
  for (const ShardRef& ref : manifest.shards) {
    const auto ignore = [](int64_t, const void*, size_t) { return absl::OkStatus(); };
    if (absl::Status status = ReadShard(job_uid, ref, ignore); !status.ok()) return status;
    done += ref.bytes;
    if (progress) progress(done, total);
  }
  return absl::OkStatus();
}

absl::Status Store::Verify(const std::string& job_uid, const std::string& name, const Progress& progress) {
  const auto manifest = ReadManifest(job_uid, name);
  if (!manifest.ok()) return manifest.status();
  return VerifyShards(job_uid, *manifest, progress);
}

absl::StatusOr<Manifest> Store::LookAt(const std::string& job_uid, const std::string& name, const Look& look,
                                       bool* damaged) {
  *damaged = false;
  auto manifest = ReadManifest(job_uid, name);
  if (!manifest.ok()) {
    *damaged = absl::IsDataLoss(manifest.status()) || absl::IsInvalidArgument(manifest.status());
    return manifest;
  }
  if (absl::Status status = CheckPlanes(*manifest, look); !status.ok()) return status;
  const absl::Status whole = look.verify ? VerifyShards(job_uid, *manifest, nullptr) : CheckPresent(job_uid, *manifest);
  *damaged = absl::IsDataLoss(whole);
  if (!whole.ok()) return whole;
  return manifest;
}

absl::StatusOr<Newest> Store::FindNewest(const std::string& job_uid, const Look& look) {
  Newest newest;
  std::vector<std::string> foreign;
  const auto names = Names(job_uid, &foreign);
  if (!names.ok()) return names.status();
  for (const std::string& file : foreign) newest.skipped.push_back(file + ": not named as a checkpoint");
  if (!names->empty()) newest.highest_generation = names->front().generation;
  bool reached = look.name.empty();
  for (const ManifestName& parsed : *names) {
    const std::string name = FormatName(parsed);
    const bool asked_for = name == look.name;
    reached = reached || asked_for;
    if (!reached) continue;
    bool damaged = false;
    auto manifest = LookAt(job_uid, name, look, &damaged);
    // Not damaged: going back behind it would lose its steps.
    if (IsOfNewerRelease(manifest.status())) return Annotate(manifest.status(), name);
    if (manifest.ok()) {
      newest.found = true;
      newest.durable = true;
      newest.name = name;
      newest.manifest = *std::move(manifest);
      break;
    }
    const std::string reason(manifest.status().message());
    newest.skipped.push_back(absl::StrCat(name, ": ", reason));
    if (damaged) newest.damaged.push_back({name, reason});
    if (!asked_for || damaged) continue;
    newest.missing = reason;
    break;
  }
  if (!reached) newest.missing = "its manifest is not there";
  return newest;
}

absl::StatusOr<std::vector<StoredCheckpoint>> Store::List(const std::string& job_uid) {
  const auto names = Names(job_uid, nullptr);
  if (!names.ok()) return names.status();
  std::vector<StoredCheckpoint> all;
  for (const ManifestName& parsed : *names) {
    StoredCheckpoint checkpoint{.name = FormatName(parsed)};
    auto manifest = ReadManifest(job_uid, checkpoint.name);
    absl::Status status = manifest.ok() ? CheckPresent(job_uid, *manifest) : manifest.status();
    checkpoint.of_newer_release = IsOfNewerRelease(status);
    // Neither sound nor known to be broken: whoever asks must not draw conclusions.
    if (!status.ok() && !IsBroken(status) && !checkpoint.of_newer_release) return status;
    if (manifest.ok()) checkpoint.manifest = *std::move(manifest);
    for (const ShardRef& ref : checkpoint.manifest.shards) checkpoint.bytes += ref.bytes;
    const auto info = backend_->Stat(absl::StrCat(Manifests(job_uid), "/", checkpoint.name, kManifestSuffix));
    if (info.ok()) checkpoint.written = info->modified;
    checkpoint.problem = std::string(status.message());
    all.push_back(std::move(checkpoint));
  }
  return all;
}

absl::StatusOr<std::vector<std::string>> Store::ListJobs() {
  auto names = backend_->List("");
  if (!names.ok()) return names.status();
  std::vector<std::string> jobs;
  for (const std::string& name : *names) {
    if (IsSafeName(name) && backend_->HasFolder(Manifests(name))) jobs.push_back(name);
  }
  return jobs;
}

}  // namespace rekindle::checkpoint
