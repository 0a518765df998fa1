// A store by its URI: file:///folder, s3://bucket/prefix, gs://..., abfs://... (common/object_uri.h).
#ifndef REKINDLE_CHECKPOINT_STORE_URI_H_
#define REKINDLE_CHECKPOINT_STORE_URI_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "checkpoint/store.h"
#include "common/object_store.h"
#include "common/store_endpoints.h"

namespace rekindle::checkpoint {

// Keeps what is dear to open (connections, credentials, what was verified) for the next call. Thread-safe.
class StoreOpener {
 public:
  using OpenObjects = std::function<absl::StatusOr<std::shared_ptr<common::ObjectStore>>(
      const common::ObjectUri&, const common::ObjectStoreOptions&)>;

  // `files` must outlive the stores. `endpoints`: the servers that a URI may name. `open` is for tests.
  explicit StoreOpener(common::FileSystem& files, common::ObjectStoreOptions options = {},
                       common::StoreEndpoints endpoints = {}, OpenObjects open = common::OpenObjectStore);

  // INVALID_ARGUMENT says what is supported; PERMISSION_DENIED: that server may not be named. Opens nothing.
  absl::Status Check(const std::string& uri) const { return Parse(uri).status(); }
  // UNIMPLEMENTED: a bucket, and this build has no plugin for it.
  absl::StatusOr<Store> Open(const std::string& uri, double grace_seconds = Store::kGraceSeconds);

 private:
  absl::StatusOr<common::ObjectUri> Parse(const std::string& uri) const;
  absl::StatusOr<std::shared_ptr<StoreBackend>> Backend(const std::string& uri);

  common::FileSystem& files_;
  const common::ObjectStoreOptions options_;
  const common::StoreEndpoints endpoints_;
  const OpenObjects open_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<StoreBackend>> buckets_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_URI_H_
