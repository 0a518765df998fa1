#include "checkpoint/job/job_shards.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

absl::Status CheckRef(const ShardRef& ref) {
  uint8_t hash[16];
  if (common::HexDecode(ref.xxh3, hash) && ref.name == ref.xxh3 + ".safetensors" && ref.bytes >= 1 &&
      ref.bytes <= kMaxShardBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a shard must be named by its XXH3-128 in hex and have 1 byte to 64 MiB");
}

absl::Status Annotate(const absl::Status& status, const std::string& what) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

absl::Status Ignore(int64_t, const void*, size_t) { return absl::OkStatus(); }

}  // namespace

std::string Describe(const ShardRef& ref) {
  return absl::StrCat("plane ", ref.plane, " of shard ", ref.index, " of ", ref.count, " (", ref.name, ")");
}

bool JobShards::IsThere(const ShardRef& ref) {
  StoreBackend& backend = folder_.backend();
  const std::string path = folder_.Shard(ref.name);
  const auto info = backend.Stat(path);
  // A shard that is there is touched before it is read, so that a concurrent collection takes it for new.
  if (!info.ok() || info->size != ref.bytes || !backend.Touch(path).ok()) return false;
  if (backend.IsVerified(path)) return true;
  const bool whole = Read(ref, Ignore).ok();
  if (whole) backend.SetVerified(path);
  return whole;
}

absl::StatusOr<ShardRef> JobShards::Put(const ShardContent& content, int64_t bytes, const std::string& xxh3) {
  const ShardRef ref{.name = xxh3 + ".safetensors", .bytes = bytes, .xxh3 = xxh3};
  if (absl::Status status = folder_.CheckUid(); !status.ok()) return status;
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;
  if (IsThere(ref)) return ref;
  const auto given = content();
  if (!given.ok()) return given.status();
  if (given->size() != static_cast<size_t>(bytes)) {
    return absl::DataLossError(absl::StrCat("a shard has ", given->size(), " instead of ", bytes, " bytes"));
  }
  if (absl::Status status = folder_.backend().PutShard(folder_.Shard(ref.name), *given, xxh3); !status.ok()) {
    return status;
  }
  return ref;
}

bool JobShards::Contains(const ShardRef& ref) {
  if (!folder_.CheckUid().ok() || !CheckRef(ref).ok()) return false;
  const auto info = folder_.backend().Stat(folder_.Shard(ref.name));
  return info.ok() && info->size == ref.bytes;
}

absl::Status JobShards::CheckPresent(const std::vector<ShardRef>& shards) {
  std::vector<std::string> names;
  for (const ShardRef& ref : shards) names.push_back(ref.name);
  const auto infos = folder_.backend().StatAll(folder_.Shards(), names);
  if (!infos.ok()) return Annotate(infos.status(), "its shards");
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto& info = (*infos)[i];
    const std::string what = Describe(shards[i]);
    if (!info.ok()) return absl::NotFoundError(what + " is not in the store");
    if (info->size != shards[i].bytes) {
      return absl::DataLossError(absl::StrCat(what, " has ", info->size, " bytes instead of ", shards[i].bytes));
    }
  }
  return absl::OkStatus();
}

absl::Status JobShards::Verify(const std::vector<ShardRef>& shards, const Progress& progress) {
  // The sizes of the shards are checked before their bytes, because that is cheap.
  if (absl::Status status = CheckPresent(shards); !status.ok()) return status;
  int64_t total = 0, done = 0;
  for (const ShardRef& ref : shards) total += ref.bytes;
  for (const ShardRef& ref : shards) {
    if (absl::Status status = Read(ref, Ignore); !status.ok()) return status;
    done += ref.bytes;
    if (progress) progress(done, total);
  }
  return absl::OkStatus();
}

absl::Status JobShards::Read(const ShardRef& ref, const Sink& sink, uint8_t* into) {
  if (absl::Status status = folder_.CheckUid(); !status.ok()) return status;
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;
  const std::string what = Describe(ref);
  common::Hasher hasher;
  const auto hashed = [&](int64_t offset, const void* data, size_t bytes) {
    hasher.Update(data, bytes);
    return sink(offset, data, bytes);
  };
  const absl::Status read = folder_.backend().Read(folder_.Shard(ref.name), ref.bytes, hashed, into);
  if (!read.ok()) return Annotate(read, what);
  if (hasher.Hex() != ref.xxh3) return absl::DataLossError(what + " is damaged: its bytes have another XXH3");
  return absl::OkStatus();
}

absl::Status JobShards::Read(const ShardRef& ref, std::vector<uint8_t>* content) {
  // CheckRef bounds the size of the shard before memory is allocated.
  if (absl::Status status = CheckRef(ref); !status.ok()) return status;
  content->resize(static_cast<size_t>(ref.bytes));
  return Read(ref, [&](int64_t offset, const void* data, size_t n) {
    std::memcpy(content->data() + offset, data, n);
    return absl::OkStatus();
  });
}

}  // namespace rekindle::checkpoint
