#include "coordinator/web/parts/access.h"

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/rpc/local_token.h"
#include "common/rpc/rpc.h"
#include "coordinator/web/parts/json.h"

namespace rekindle::coordinator::web {
namespace {

// Returns the host of a Host header in lower case, without port and brackets. Returns "" when there is no host.
std::string HostOf(const std::string& header) {
  const bool has_port = header.rfind(':') != std::string::npos && header.back() != ']';
  const auto parts = common::SplitAddress(has_port ? header : header + ":0");
  return parts.ok() ? absl::AsciiStrToLower(parts->host) : "";
}

}  // namespace

common::PageAnswer Refusal(int status, const std::string& message) {
  return {.status = status,
          .headers = {},
          .content_type = "application/json",
          .body = std::make_shared<const std::string>(Dump({{"error", message}}))};
}

bool Access::HasToken(const common::PageRequest& request) const {
  return common::SameSecret(request.Header("authorization"), expected_);
}

std::optional<common::PageAnswer> Access::Refuse(const common::PageRequest& request, bool needs_token) const {
  const std::string& host_header = request.Header("host");
  const std::string host = HostOf(host_header);
  if (host.empty() || !options_.is_ours(host)) {
    return Refusal(403, "this server is asked for by a name that is not its own: use " + options_.names);
  }
  const std::string& origin = request.Header("origin");
  if (!origin.empty() && origin != absl::StrCat(options_.scheme, "://", host_header)) {
    return Refusal(403, "only the page itself may ask");
  }
  const std::string& site = request.Header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none" && needs_token) {
    return Refusal(403, "only the page itself may ask");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    common::PageAnswer answer = Refusal(405, "the page only shows: GET and HEAD");
    answer.headers["Allow"] = "GET, HEAD";
    return answer;
  }
  if (needs_token && !HasToken(request)) {
    common::PageAnswer answer =
        Refusal(401, request.Header("authorization").empty() ? "no token" : "wrong token: it is another coordinator's");
    answer.headers["WWW-Authenticate"] = "Bearer";
    return answer;
  }
  return std::nullopt;
}

}  // namespace rekindle::coordinator::web
