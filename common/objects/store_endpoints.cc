#include "common/objects/store_endpoints.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

std::string HostOf(const std::string& endpoint) { return endpoint.substr(0, endpoint.find(':')); }

bool IsLoopbackHost(const std::string& host) {
  in_addr address = {};
  return host == "localhost" ||
         (inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127);
}

}  // namespace

absl::StatusOr<StoreEndpoints> StoreEndpoints::Create(const std::vector<std::string>& listed, bool on_loopback) {
  StoreEndpoints endpoints;
  endpoints.any_ = false;
  endpoints.on_loopback_ = on_loopback;
  for (const std::string& entry : listed) {
    if (!IsEndpoint(entry)) {
      return absl::InvalidArgumentError(absl::StrCat("--store-endpoint: '", entry.substr(0, 100),
                                                     "' is not HOST or HOST:PORT, as minio.example:9000"));
    }
    endpoints.listed_.push_back(absl::AsciiStrToLower(entry));
  }
  return endpoints;
}

absl::Status StoreEndpoints::Check(const ObjectUri& uri) const {
  if (any_ || uri.endpoint.empty()) return absl::OkStatus();
  const std::string endpoint = absl::AsciiStrToLower(uri.endpoint);
  const std::string host = HostOf(endpoint);
  if (on_loopback_ && IsLoopbackHost(host)) return absl::OkStatus();
  const bool is_listed = std::any_of(listed_.begin(), listed_.end(),
                                     [&](const std::string& one) { return one == endpoint || one == host; });
  if (is_listed) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("endpoint_override=", uri.endpoint,
                   " is none of the servers that the operator lists here (--store-endpoint): leave it out, or ask "
                   "for it to be listed"));
}

}  // namespace rekindle::common
