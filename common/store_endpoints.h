// Which servers of object stores a URI may name by endpoint_override. Whoever opens a store shows the server who it is,
// by what its cloud has given this machine: so one who only submits jobs does not choose the server.
#ifndef REKINDLE_COMMON_STORE_ENDPOINTS_H_
#define REKINDLE_COMMON_STORE_ENDPOINTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/object_uri.h"

namespace rekindle::common {

// Immutable, copyable, thread-safe.
class StoreEndpoints {
 public:
  // Any: of who names a store for themselves.
  StoreEndpoints() = default;
  // `listed`: HOST[:PORT]; without a port any port of that host. `on_loopback`: and whatever is on loopback, as where
  // all of a cluster is on one machine and its callers have its token. INVALID_ARGUMENT names the entry that is no
  // endpoint.
  static absl::StatusOr<StoreEndpoints> Create(const std::vector<std::string>& listed, bool on_loopback);

  // PERMISSION_DENIED names the endpoint and the flag. What names none is the cloud's own, and always OK.
  absl::Status Check(const ObjectUri& uri) const;

 private:
  bool any_ = true;
  bool on_loopback_ = false;
  std::vector<std::string> listed_;  // In lower case.
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_STORE_ENDPOINTS_H_
