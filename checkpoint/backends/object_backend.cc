#include "checkpoint/backends/object_backend.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

constexpr char kMarker[] = ".used";
constexpr char kShard[] = ".safetensors";
constexpr size_t kMaxVerified = 1 << 16;
// S3 reports times in whole seconds. So that a shard is kept when in doubt, its marker counts as later than a manifest
// that was written in the same second.
constexpr double kTimeResolution = 1;

common::FileInfo Convert(const common::ObjectInfo& info) {
  return {.size = info.size, .modified = info.modified, .is_folder = info.is_prefix};
}

}  // namespace

void ObjectBackend::Remember(const std::string& path, const common::ObjectInfo& info) {
  const common::MutexLock lock(mutex_);
  if (verified_.size() >= kMaxVerified) verified_.clear();
  verified_[path] = {info.size, info.modified};
}

bool ObjectBackend::IsVerified(const std::string& path) {
  const auto info = objects_->Head(path);
  const common::MutexLock lock(mutex_);
  const auto known = verified_.find(path);
  return info.ok() && known != verified_.end() && known->second == std::pair(info->size, info->modified);
}

void ObjectBackend::SetVerified(const std::string& path) {
  if (const auto info = objects_->Head(path); info.ok()) Remember(path, *info);
}

absl::Status ObjectBackend::PutShard(const std::string& path, std::span<const uint8_t> content,
                                     const std::string& xxh3) {
  common::Hasher hasher;
  const auto read = [&](int64_t offset, void* out, size_t n) {
    // Offset 0 is the start of another attempt at the upload, so the hash begins again.
    if (offset == 0) hasher.Reset();
    std::memcpy(out, content.data() + offset, n);
    hasher.Update(out, n);
    return absl::OkStatus();
  };
  const auto approve = [&] {
    return hasher.Hex() == xxh3 ? absl::OkStatus() : ChangedAfterHandOver(hasher.Hex(), xxh3);
  };
  const auto info = objects_->Put(path, read, static_cast<int64_t>(content.size()), approve);
  if (!info.ok()) return info.status();
  Remember(path, *info);
  return absl::OkStatus();
}

absl::Status ObjectBackend::Put(const std::string& path, const std::string& content) {
  // On Azure an object is empty for a moment while it is replaced. That must not happen to an object that is durable
  // already, so equal content is not put again.
  const auto there = ReadAll(path, content.size());
  if (there.ok() && *there == content) return absl::OkStatus();
  return objects_->Put(path, content).status();
}

absl::Status ObjectBackend::Remove(const std::string& path) {
  // A shard's marker is removed before the shard, so that a removal that stops half-way leaves no marker without its
  // shard.
  if (absl::EndsWith(path, kShard)) {
    if (absl::Status status = objects_->Delete(path + kMarker); !status.ok()) return status;
  }
  return objects_->Delete(path);
}

absl::Status ObjectBackend::Touch(const std::string& path) { return objects_->Put(path + kMarker, "used\n").status(); }

absl::Status ObjectBackend::Read(const std::string& path, int64_t size, const Sink& sink, uint8_t*) {
  const auto info = objects_->Head(path);
  if (!info.ok()) return info.status();
  if (info->size != size) return absl::DataLossError(absl::StrCat("it has ", info->size, " bytes instead of ", size));
  return objects_->Get(path, size, 0, size, sink);
}

absl::StatusOr<std::string> ObjectBackend::ReadAll(const std::string& path, size_t limit) {
  const auto info = objects_->Head(path);
  if (!info.ok()) return info.status();
  if (static_cast<uint64_t>(info->size) > limit) {
    return absl::OutOfRangeError(absl::StrCat(path, " has ", info->size, " bytes, more than the ", limit, " allowed"));
  }
  std::string content(static_cast<size_t>(info->size), '\0');
  const absl::Status read =
      objects_->Get(path, info->size, 0, info->size, [&](int64_t offset, const void* data, size_t n) {
        std::memcpy(content.data() + offset, data, n);
        return absl::OkStatus();
      });
  if (!read.ok()) return read;
  return content;
}

absl::StatusOr<common::FileInfo> ObjectBackend::Stat(const std::string& path) {
  const auto info = objects_->Head(path);
  if (!info.ok()) return info.status();
  common::FileInfo found = Convert(*info);
  if (absl::EndsWith(path, kShard)) {
    const auto marker = objects_->Head(path + kMarker);
    if (!marker.ok() && !absl::IsNotFound(marker.status())) return marker.status();
    if (marker.ok()) found.modified = std::max(found.modified, marker->modified + kTimeResolution);
  }
  return found;
}

absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> ObjectBackend::StatAll(
    const std::string& folder, const std::vector<std::string>& names) {
  const auto listed = objects_->List(folder);
  if (!listed.ok()) return listed.status();
  std::map<std::string, common::FileInfo> known;
  for (const common::ObjectInfo& info : *listed) known[info.name] = Convert(info);
  std::vector<absl::StatusOr<common::FileInfo>> infos;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) {
      infos.push_back(absl::NotFoundError(name));
    } else {
      infos.push_back(found->second);
    }
  }
  return infos;
}

absl::StatusOr<std::vector<std::string>> ObjectBackend::List(const std::string& folder) {
  const auto listed = objects_->List(folder);
  if (!listed.ok()) return listed.status();
  std::set<std::string> names;
  for (const common::ObjectInfo& info : *listed) names.insert(info.name);
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    const bool marker = IsUnfinished(name) && names.contains(name.substr(0, name.size() - std::strlen(kMarker)));
    if (!marker) shown.push_back(name);
  }
  return shown;
}

bool ObjectBackend::HasFolder(const std::string& folder) {
  const auto listed = objects_->List(folder);
  return listed.ok() && !listed->empty();
}

bool ObjectBackend::IsUnfinished(const std::string& name) const { return absl::EndsWith(name, kMarker); }

}  // namespace rekindle::checkpoint
