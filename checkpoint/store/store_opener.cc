#include "checkpoint/store/store_opener.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/backends/file_backend.h"
#include "checkpoint/backends/object_backend.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

// A node uses few buckets, because a job has one store or two. If `kMaxOpen` buckets are open and another one is used,
// all are forgotten, and each is opened again when it is next used.
constexpr size_t kMaxOpen = 64;

}  // namespace

StoreOpener::StoreOpener(common::FileSystem& files, common::ObjectStoreOptions options,
                         common::StoreEndpoints endpoints, OpenObjects open)
    : files_(files), options_(std::move(options)), endpoints_(std::move(endpoints)), open_(std::move(open)) {}

absl::StatusOr<common::ObjectUri> StoreOpener::Parse(const std::string& uri) const {
  auto parsed = common::ParseObjectUri(uri);
  if (!parsed.ok()) return parsed;
  if (absl::Status allowed = endpoints_.Check(*parsed); !allowed.ok()) {
    return absl::PermissionDeniedError(absl::StrCat("store '", common::PublicUri(uri), "': ", allowed.message()));
  }
  return parsed;
}

absl::StatusOr<std::shared_ptr<StoreBackend>> StoreOpener::Backend(const std::string& uri) {
  const auto parsed = Parse(uri);
  if (!parsed.ok()) return parsed.status();
  if (parsed->kind == common::ObjectUri::Kind::kFile) return std::make_shared<FileBackend>(files_, parsed->folder);
  const common::MutexLock lock(mutex_);
  if (const auto known = buckets_.find(uri); known != buckets_.end()) return known->second;
  auto objects = open_(*parsed, options_);
  if (!objects.ok()) return objects.status();
  if (buckets_.size() >= kMaxOpen) buckets_.clear();
  return buckets_[uri] = std::make_shared<ObjectBackend>(*std::move(objects));
}

absl::StatusOr<Store> StoreOpener::Open(const std::string& uri, double grace_seconds) {
  auto backend = Backend(uri);
  if (!backend.ok()) return backend.status();
  return Store(*std::move(backend), grace_seconds);
}

}  // namespace rekindle::checkpoint
