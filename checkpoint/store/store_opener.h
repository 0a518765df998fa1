// Opens a store by its URI: file:///folder, s3://bucket/prefix, gs://..., abfs://... (common/objects/object_uri.h).
#ifndef REKINDLE_CHECKPOINT_STORE_STORE_OPENER_H_
#define REKINDLE_CHECKPOINT_STORE_STORE_OPENER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"
#include "common/objects/object_store.h"
#include "common/objects/store_endpoints.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

// Opens stores. What is expensive to open (connections, credentials, the record of verified shards) is kept for the
// next call. The class is thread-safe.
class StoreOpener {
 public:
  using OpenObjects = std::function<absl::StatusOr<std::shared_ptr<common::ObjectStore>>(
      const common::ObjectUri&, const common::ObjectStoreOptions&)>;

  // `files` must outlive the stores. `endpoints` lists the servers that a URI may name. `open` opens a bucket, and
  // tests replace it.
  explicit StoreOpener(common::FileSystem& files, common::ObjectStoreOptions options = {},
                       common::StoreEndpoints endpoints = {}, OpenObjects open = common::OpenObjectStore);

  // Checks a store's URI without opening anything. INVALID_ARGUMENT says what is supported. PERMISSION_DENIED says that
  // the URI may not name its server.
  absl::Status Check(const std::string& uri) const { return Parse(uri).status(); }
  // Opens a store by its URI. Returns UNIMPLEMENTED for a bucket if this build has no plugin for it.
  absl::StatusOr<Store> Open(const std::string& uri, double grace_seconds = Store::kGraceSeconds);

 private:
  absl::StatusOr<common::ObjectUri> Parse(const std::string& uri) const;
  absl::StatusOr<std::shared_ptr<StoreBackend>> Backend(const std::string& uri);

  common::FileSystem& files_;
  const common::ObjectStoreOptions options_;
  const common::StoreEndpoints endpoints_;
  const OpenObjects open_;
  common::Mutex mutex_;
  std::map<std::string, std::shared_ptr<StoreBackend>> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_STORE_OPENER_H_
