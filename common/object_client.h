// What the library of a cloud must do: one attempt at each operation, blocking for as long as that library likes.
// Retries, deadlines and caps are ObjectStore's (object_store.h), which is what everybody else uses.
#ifndef REKINDLE_COMMON_OBJECT_CLIENT_H_
#define REKINDLE_COMMON_OBJECT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct ObjectInfo {
  std::string name;  // Below the prefix that was listed.
  int64_t size = 0;
  double modified = 0;     // Unix seconds of the store's clock, some in whole seconds.
  bool is_prefix = false;  // A "folder": there are objects below it.
};

// Thread-safe. Calls may be abandoned, so they run on threads that hold the client and everything that they use.
//
// Keys are below the bucket, checked by the caller. Errors as in object_errors.h; NOT_FOUND says that the object is
// not there though its bucket is.
class ObjectClient {
 public:
  // An object on its way. Thread-compatible. Destroying it before Finish succeeded gives it up, and may block: S3 and
  // GCS then leave nothing under the key, Azure an empty object.
  class Upload {
   public:
    virtual ~Upload() = default;
    // May return before the piece has arrived, and keeps it until then.
    virtual absl::Status Write(std::vector<uint8_t> piece) = 0;
    // Durable on return.
    virtual absl::Status Finish() = 0;
  };

  virtual ~ObjectClient() = default;
  virtual absl::StatusOr<std::shared_ptr<Upload>> StartUpload(const std::string& key) = 0;
  // Exactly `bytes` from `offset` of an object that has `size`; UNAVAILABLE when fewer arrived.
  virtual absl::StatusOr<std::vector<uint8_t>> Read(const std::string& key, int64_t size, int64_t offset,
                                                    int64_t bytes) = 0;
  virtual absl::StatusOr<ObjectInfo> Head(const std::string& key) = 0;
  // What is directly below `prefix` + "/"; none when there is nothing.
  virtual absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& prefix) = 0;
  // OK when it is not there.
  virtual absl::Status Delete(const std::string& key) = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECT_CLIENT_H_
