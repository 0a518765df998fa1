// This file calls HTTP APIs of JSON that want a bearer token, which are those of Google, Azure and Kubernetes.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_BEARER_API_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_BEARER_API_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

struct Token {
  std::string value;
  // `expires` is in Unix seconds. 0 means that the token is fetched anew for each request.
  double expires = 0;
};
// A FetchToken gets `now` in Unix seconds. Its errors hold nothing of what was read.
using FetchToken = std::function<absl::StatusOr<Token>(double now)>;

// Returns the token that token services answer as {"access_token": ..., "expires_in": 3599}. The seconds may be a
// number or text.
absl::StatusOr<Token> ParseToken(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer, double now);

// A BearerApi is thread-compatible.
class BearerApi {
 public:
  // Where `fetch` is null, no token is sent.
  BearerApi(std::unique_ptr<common::Http> http, FetchToken fetch) : http_(std::move(http)), fetch_(std::move(fetch)) {}

  // Returns the document that `method` on `path` answers. `body` is JSON, or null. A token that is refused is fetched
  // once more.
  absl::StatusOr<nlohmann::json> Call(const std::string& method, const std::string& path,
                                      const nlohmann::json& body = nullptr,
                                      const std::string& content_type = "application/json");

 private:
  absl::StatusOr<common::HttpAnswer> Send(const common::HttpRequest& request);

  const std::unique_ptr<common::Http> http_;
  const FetchToken fetch_;
  Token token_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_BEARER_API_H_
