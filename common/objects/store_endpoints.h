// Checks which servers of object stores a URI may name by endpoint_override. A process that opens a store shows the
// server the credentials that the cloud has given this machine. So a user who only submits jobs must not choose the
// server.
#ifndef REKINDLE_COMMON_OBJECTS_STORE_ENDPOINTS_H_
#define REKINDLE_COMMON_OBJECTS_STORE_ENDPOINTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/objects/object_uri.h"

namespace rekindle::common {

// Holds the allowed endpoints. It is immutable, copyable and thread-safe.
class StoreEndpoints {
 public:
  // Allows any endpoint, for users who name a store for themselves.
  StoreEndpoints() = default;
  // `listed` has entries HOST[:PORT]. An entry without a port allows any port of that host. `on_loopback` also allows
  // everything on loopback, for a cluster that is on one machine and whose callers have its token. INVALID_ARGUMENT
  // names the entry that is no endpoint.
  static absl::StatusOr<StoreEndpoints> Create(const std::vector<std::string>& listed, bool on_loopback);

  // Returns OK if the URI names an allowed endpoint, or none, which means the cloud's own. PERMISSION_DENIED names the
  // endpoint and the flag.
  absl::Status Check(const ObjectUri& uri) const;

 private:
  bool any_ = true;
  bool on_loopback_ = false;
  // `listed_` holds the allowed endpoints, as HOST or HOST:PORT in lower case.
  std::vector<std::string> listed_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_STORE_ENDPOINTS_H_
