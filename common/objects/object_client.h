// Defines the interface through which the library of a cloud is used. It makes a single attempt at each operation, and
// blocks for as long as that library needs. ObjectStore (object_store.h) adds retries, deadlines and caps, and is what
// all other code uses.
#ifndef REKINDLE_COMMON_OBJECTS_OBJECT_CLIENT_H_
#define REKINDLE_COMMON_OBJECTS_OBJECT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct ObjectInfo {
  // `name` is the name of the object or "folder", relative to the prefix that was listed.
  std::string name;
  int64_t size = 0;
  // `modified` is when the object was last modified, in Unix seconds of the store's clock. Some stores report whole
  // seconds only.
  double modified = 0;
  // `is_prefix` marks a "folder", which has objects below it.
  bool is_prefix = false;
};

// Makes single attempts at operations on a bucket. It is thread-safe. Calls may be abandoned, so they run on threads
// that hold the client and everything that they use.
//
// Keys are relative to the bucket, and the caller has checked them. Errors are those of object_errors.h. NOT_FOUND says
// that the object does not exist but its bucket does.
class ObjectClient {
 public:
  // An `Upload` is an object that is being uploaded. It is thread-compatible. Destroying it before Finish succeeded
  // gives the upload up and may block. S3 and GCS then leave nothing under the key, and Azure leaves an empty object.
  class Upload {
   public:
    virtual ~Upload() = default;
    // Writes the next piece of the object. The call may return before the piece has arrived at the store, and the
    // upload keeps the piece until then.
    virtual absl::Status Write(std::vector<uint8_t> piece) = 0;
    // Completes the object, which is durable on return.
    virtual absl::Status Finish() = 0;
  };

  virtual ~ObjectClient() = default;
  virtual absl::StatusOr<std::shared_ptr<Upload>> StartUpload(const std::string& key) = 0;
  // Reads exactly `bytes` bytes from `offset` of an object of `size` bytes. Returns UNAVAILABLE if fewer arrived.
  virtual absl::StatusOr<std::vector<uint8_t>> Read(const std::string& key, int64_t size, int64_t offset,
                                                    int64_t bytes) = 0;
  virtual absl::StatusOr<ObjectInfo> Head(const std::string& key) = 0;
  // Returns the objects and "folders" directly below `prefix` + "/". The list is empty if there are none.
  virtual absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& prefix) = 0;
  // Deletes an object. Returns OK if it does not exist.
  virtual absl::Status Delete(const std::string& key) = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_OBJECT_CLIENT_H_
