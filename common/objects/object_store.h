// Stores whole objects in a bucket: atomic and durable puts, ranged reads, lists and deletes. It adds deadlines,
// retries and a cap on the bandwidth to a cloud's library (object_client.h).
//
// A call ends within its deadline even if the library hangs. The hanging call is abandoned and continues unobserved
// (abandon.h). Errors name the operation and the key, but never a credential. The codes are NOT_FOUND (only for an
// object whose bucket is there), PERMISSION_DENIED, UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED and DATA_LOSS.
// The class is thread-safe.
#ifndef REKINDLE_COMMON_OBJECTS_OBJECT_STORE_H_
#define REKINDLE_COMMON_OBJECTS_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/objects/object_client.h"
#include "common/objects/object_uri.h"
#include "common/time/clock.h"
#include "common/time/retry.h"
#include "common/time/token_bucket.h"

namespace rekindle::common {

struct ObjectStoreOptions {
  // `deadline_seconds` is the time of a call with all its retries. A large object gets more (see
  // `slowest_bytes_per_second`).
  double deadline_seconds = 60;
  // `attempt_seconds` is the time of one attempt.
  double attempt_seconds = 15;
  // A connection slower than `slowest_bytes_per_second` counts as broken. An object adds its bytes divided by this rate
  // to `deadline_seconds` and `attempt_seconds`.
  double slowest_bytes_per_second = 1e6;
  RetryPolicy retry;
  // `uploads` objects are uploaded at the same time, each in parallel parts. So up to `uploads` objects are in memory.
  // `uploads` is at least 1.
  int uploads = 6;
  // `reads` pieces of an object are read at a time.
  int reads = 4;
  // All stores that share one token bucket stay below its rate together. Null means no cap.
  std::shared_ptr<TokenBucket> bandwidth;
};

class ObjectStore {
 public:
  // A piece of an object has the size of the parts in which Arrow uploads.
  static constexpr int64_t kPiece = 10 << 20;
  static constexpr int kMaxUploads = 64;

  ObjectStore(std::shared_ptr<ObjectClient> client, std::string prefix, ObjectStoreOptions options, Clock clock = {});

  // A `Source` fills `out` with the object's bytes from `offset` on. It is called on the caller's thread, in the order
  // of the offsets, and again for a retry.
  using Source = std::function<absl::Status(int64_t offset, void* out, size_t bytes)>;
  // Writes an object atomically. It is durable on return, and its size was read back. It replaces an existing object of
  // that name. An error of the source ends the upload. `approve` is optional and is called after the last byte was read
  // and before the object is completed.
  absl::StatusOr<ObjectInfo> Put(const std::string& key, const Source& source, int64_t bytes,
                                 const std::function<absl::Status()>& approve = nullptr);
  absl::StatusOr<ObjectInfo> Put(const std::string& key, std::string_view content);

  // Reads `bytes` bytes of an object of `size` bytes, from `offset` on, and passes them to `sink` in order. An error of
  // the sink ends the read. The bytes are as the store sent them, so the caller must check their hash.
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;
  absl::Status Get(const std::string& key, int64_t size, int64_t offset, int64_t bytes, const Sink& sink);

  absl::StatusOr<ObjectInfo> Head(const std::string& key);
  // Returns the objects and "folders" directly below `folder`, sorted by name. The list is empty if there are none. If
  // the store cannot be read, it returns an error.
  absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& folder);
  // Deletes an object. Returns OK if it does not exist.
  absl::Status Delete(const std::string& key);

 private:
  std::string Key(const std::string& key) const { return prefix_.empty() ? key : prefix_ + "/" + key; }
  // Returns the time limit of a call or an attempt that moves `bytes`.
  double Within(double seconds, int64_t bytes) const;
  // Waits until the cap on the bandwidth allows to move `bytes`, and returns for how many seconds it has waited.
  double Pace(int64_t bytes);
  template <typename T>
  absl::StatusOr<T> Call(const std::string& what, const std::function<absl::StatusOr<T>()>& call);
  absl::Status PutOnce(const std::string& key, const Source& source, int64_t bytes,
                       const std::function<absl::Status()>& approve, Attempt& attempt);

  const std::shared_ptr<ObjectClient> client_;
  const std::string prefix_;
  const ObjectStoreOptions options_;
  const Clock clock_;
  std::counting_semaphore<kMaxUploads> uploads_;
};

// Opens the store of a cloud URI with the plugin beside the running program (object_plugin.h). Returns UNIMPLEMENTED if
// this build has none. It does not check whether the bucket is there.
absl::StatusOr<std::shared_ptr<ObjectStore>> OpenObjectStore(const ObjectUri& uri,
                                                             const ObjectStoreOptions& options = {});

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_OBJECT_STORE_H_
