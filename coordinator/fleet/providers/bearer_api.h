// An HTTP API of JSON that wants a bearer token: Google's, Azure's, Kubernetes'.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_BEARER_API_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_BEARER_API_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/http.h"
#include "coordinator/fleet/providers/cloud_api.h"

namespace rekindle::fleet {

struct Token {
  std::string value;
  double expires = 0;  // Unix seconds; 0: fetched anew for each request.
};
// `now`: Unix seconds. Errors hold nothing of what was read.
using FetchToken = std::function<absl::StatusOr<Token>(double now)>;

// A token from what token services answer: {"access_token": ..., "expires_in": 3599}, seconds as number or text.
absl::StatusOr<Token> ParseToken(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer, double now);

// Thread-compatible.
class BearerApi {
 public:
  // `fetch` null: nobody asks for a token.
  BearerApi(std::unique_ptr<common::Http> http, FetchToken fetch) : http_(std::move(http)), fetch_(std::move(fetch)) {}

  // The document that `method` on `path` answers. `body`: JSON, or null. A token that is refused is fetched once more.
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

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_BEARER_API_H_
