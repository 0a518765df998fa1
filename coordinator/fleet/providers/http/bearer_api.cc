#include "coordinator/fleet/providers/http/bearer_api.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

constexpr double kRefreshSeconds = 120;
constexpr size_t kMaxToken = 16 << 10;

bool Fit(const std::string& token) {
  return !token.empty() && token.size() <= kMaxToken &&
         std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > ' ' && c <= '~'; });
}

// Returns how error messages name a request, such as "GET /apis/apps/v1/...". The query is left out.
std::string What(const std::string& method, const std::string& path) {
  return absl::StrCat(method, " ", path.substr(0, path.find('?')));
}

}  // namespace

absl::StatusOr<Token> ParseToken(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer,
                                 double now) {
  const auto document = JsonAnswer(what, answer);
  if (!document.ok()) return document.status();
  const auto seconds = document->is_object() ? document->find("expires_in") : document->end();
  double lives = 0;
  if (seconds != document->end() && seconds->is_number()) lives = seconds->get<double>();
  if (seconds != document->end() && seconds->is_string()) (void)absl::SimpleAtod(seconds->get<std::string>(), &lives);
  Token token{.value = common::StringOr(*document, "access_token"), .expires = now + lives};
  if (!Fit(token.value) || !(lives > 0)) return absl::UnauthenticatedError(absl::StrCat(what, ": it sent no token"));
  return token;
}

absl::StatusOr<common::HttpAnswer> BearerApi::Send(const common::HttpRequest& request) {
  if (!fetch_) return http_->Send(request);
  for (const bool again : {false, true}) {
    const double now = common::WallSeconds();
    if (now >= token_.expires - kRefreshSeconds) {
      absl::StatusOr<Token> token = fetch_(now);
      if (token.ok() && !Fit(token->value)) token = absl::UnauthenticatedError("the token is not one printable word");
      // If the token service gives no new token, the old one is used until it expires.
      if (!token.ok() && now >= token_.expires) return token.status();
      if (token.ok()) token_ = *std::move(token);
    }
    common::HttpRequest signed_request = request;
    signed_request.headers["Authorization"] = "Bearer " + token_.value;
    absl::StatusOr<common::HttpAnswer> answer = http_->Send(signed_request);
    if (!answer.ok() || answer->status != 401 || again) return answer;
    token_ = {};
  }
  return absl::InternalError("not reached");
}

absl::StatusOr<nlohmann::json> BearerApi::Call(const std::string& method, const std::string& path,
                                               const nlohmann::json& body, const std::string& content_type) {
  common::HttpRequest request{.method = method, .path = path, .headers = {{"Accept", "application/json"}}};
  if (!body.is_null()) {
    request.body = body.dump();
    request.headers["Content-Type"] = content_type;
  }
  return JsonAnswer(What(method, path), Send(request));
}

}  // namespace rekindle::fleet
