// This file calls HTTP APIs that speak JSON and want a bearer token: those of Google, Azure and Kubernetes.
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
  // `expires` is the time until which the token is valid, in Unix seconds. It is 0 for a token that is fetched anew for
  // each request.
  double expires = 0;
};
// A FetchToken fetches a bearer token. `now` is in Unix seconds. The errors hold nothing of what was read, because it
// may be a secret.
using FetchToken = std::function<absl::StatusOr<Token>(double now)>;

// Returns the token in the answer of a token service, which is {"access_token": ..., "expires_in": 3599}. The seconds
// may be a number or text.
absl::StatusOr<Token> ParseToken(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer, double now);

// A BearerApi is thread-compatible.
class BearerApi {
 public:
  // Where `fetch` is null, no token is sent.
  BearerApi(std::unique_ptr<common::Http> http, FetchToken fetch) : http_(std::move(http)), fetch_(std::move(fetch)) {}

  // Sends a request and returns the JSON document of its answer. `body` is JSON, or null. Where the API refuses the
  // token, Call fetches a new one and sends the request once more.
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
