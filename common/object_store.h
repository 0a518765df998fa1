// Whole objects in a bucket: atomic and durable puts, ranged reads, lists, deletes; with deadlines, retries and a cap
// on the bandwidth around a cloud's library (object_client.h).
//
// A call ends within its deadline even when the library hangs: that call is abandoned and goes on unheard (abandon.h).
// Errors name the operation and the key, never a credential. Codes: NOT_FOUND (only of an object whose bucket is
// there), PERMISSION_DENIED, UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, DATA_LOSS. Thread-safe.
#ifndef REKINDLE_COMMON_OBJECT_STORE_H_
#define REKINDLE_COMMON_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/object_client.h"
#include "common/object_uri.h"
#include "common/retry.h"
#include "common/token_bucket.h"

namespace rekindle::common {

struct ObjectStoreOptions {
  double deadline_seconds = 60;  // Of a call with all its retries; a large object gets more, see below.
  double attempt_seconds = 15;   // Of one attempt.
  // A connection slower than this is as good as broken: an object adds bytes / slowest to both of the above.
  double slowest_bytes_per_second = 1e6;
  RetryPolicy retry;
  // Objects uploaded at a time, each in parallel parts; together they hold as many objects in memory. At least 1.
  int uploads = 6;
  // Pieces of an object read at a time.
  int reads = 4;
  // Shared by all stores that are to stay below it together; null: no cap.
  std::shared_ptr<TokenBucket> bandwidth;
};

class ObjectStore {
 public:
  static constexpr int64_t kPiece = 10 << 20;  // Arrow's parts.
  static constexpr int kMaxUploads = 64;

  ObjectStore(std::shared_ptr<ObjectClient> client, std::string prefix, ObjectStoreOptions options,
              Clock& clock = *RealClock());

  // Fills `out` with the bytes from `offset`. Called on the caller's thread, again for a retry, in order.
  using Source = std::function<absl::Status(int64_t offset, void* out, size_t bytes)>;
  // Atomic, and durable on return: its size was read back. Replaces an object of that name. A source's error ends it.
  // `approve` (optional) is asked after the last byte was read and before the object is completed.
  absl::StatusOr<ObjectInfo> Put(const std::string& key, const Source& source, int64_t bytes,
                                 const std::function<absl::Status()>& approve = nullptr);
  absl::StatusOr<ObjectInfo> Put(const std::string& key, std::string_view content);

  // `bytes` from `offset` of an object that has `size`, handed on in order; a sink's error ends it. Bytes are as the
  // store sent them: check their hash.
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;
  absl::Status Get(const std::string& key, int64_t size, int64_t offset, int64_t bytes, const Sink& sink);

  absl::StatusOr<ObjectInfo> Head(const std::string& key);
  // What is directly below `folder`, sorted by name; none when there is nothing, never when the store cannot be read.
  absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& folder);
  // OK when it is not there.
  absl::Status Delete(const std::string& key);

 private:
  std::string Key(const std::string& key) const { return prefix_.empty() ? key : prefix_ + "/" + key; }
  // Of a call, and of an attempt, that moves `bytes`.
  double Within(double seconds, int64_t bytes) const;
  // Waits for the cap; how long.
  double Pace(int64_t bytes);
  template <typename T>
  absl::StatusOr<T> Call(const std::string& what, const std::function<absl::StatusOr<T>()>& call);
  absl::Status PutOnce(const std::string& key, const Source& source, int64_t bytes,
                       const std::function<absl::Status()>& approve, Attempt& attempt);

  const std::shared_ptr<ObjectClient> client_;
  const std::string prefix_;
  const ObjectStoreOptions options_;
  Clock& clock_;
  std::counting_semaphore<kMaxUploads> uploads_;
};

// Opens the store of a cloud URI with the plugin beside the running program (object_plugin.h). UNIMPLEMENTED where this
// build has none. Does not look whether the bucket is there.
absl::StatusOr<std::shared_ptr<ObjectStore>> OpenObjectStore(const ObjectUri& uri,
                                                             const ObjectStoreOptions& options = {});

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECT_STORE_H_
