#include "coordinator/fleet/providers/aws/aws_query.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kLongestMessage = 300;

bool IsOneOf(const std::string& code, std::initializer_list<const char*> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](const char* each) { return code == each; });
}

// Turns an error of AWS into a status. The error is XML of the form <ErrorResponse><Error><Code>, where a list <Errors>
// may stand around <Error>.
absl::Status ToStatus(const std::string& what, const common::HttpAnswer& answer) {
  const absl::StatusOr<Xml> document = ParseXml(answer.body);
  if (!document.ok()) return ErrorOf(what, answer, "");
  const Xml& error = (*document)["Error"].name.empty() ? (*document)["Errors"]["Error"] : (*document)["Error"];
  const std::string& code = error["Code"].text;
  const std::string text = absl::StrCat(what, ": ", common::Printable(code, 64), ": ",
                                        common::Printable(error["Message"].text, kLongestMessage));
  if (IsOneOf(code, {"Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestThrottled", "SlowDown",
                     "ScalingActivityInProgress", "ResourceContention"})) {
    return Throttled(text, RetryAfterOf(answer, common::WallSeconds()));
  }
  if (IsOneOf(code, {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "OptInRequired"})) {
    return absl::PermissionDeniedError(text);
  }
  if (IsOneOf(code,
              {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId",
               "SignatureDoesNotMatch", "UnrecognizedClientException", "MissingAuthenticationToken", "AuthFailure"})) {
    return absl::UnauthenticatedError(text);
  }
  if (code == "LimitExceeded") return absl::ResourceExhaustedError(text);
  if (code == "ValidationError" && absl::StrContains(error["Message"].text, "not found")) {
    return absl::NotFoundError(text);
  }
  return ErrorOf(what, answer, absl::StrCat(code, ": ", error["Message"].text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AwsQuery>> AwsQuery::Open(Options options, Variables variables) {
  std::string endpoint = options.endpoint;
  if (endpoint.empty()) {
    endpoint = absl::StrCat("https://", options.service, ".", options.region, ".amazonaws.com",
                            absl::StartsWith(options.region, "cn-") ? ".cn" : "");
  }
  auto http =
      common::OpenHttp(endpoint, {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  std::string host = endpoint.substr(endpoint.find("://") + 3);
  return std::unique_ptr<AwsQuery>(
      new AwsQuery(std::move(options), std::move(host), *std::move(http), std::move(variables)));
}

absl::StatusOr<Xml> AwsQuery::Call(const std::string& action, const Parameters& parameters) {
  absl::StatusOr<Xml> answer = CallOnce(action, parameters);
  if (!absl::IsUnauthenticated(answer.status())) return answer;
  credentials_.Forget();
  return CallOnce(action, parameters);
}

absl::StatusOr<Xml> AwsQuery::CallOnce(const std::string& action, const Parameters& parameters) {
  const double now = common::WallSeconds();
  const absl::StatusOr<AwsKeys> keys = credentials_.Get(now);
  if (!keys.ok()) return keys.status();
  common::HttpRequest request{
      .method = "POST",
      .path = "/",
      .headers = {{"Host", host_}, {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
      .body = absl::StrCat("Action=", action, "&Version=", options_.version)};
  for (const auto& [name, value] : parameters) {
    absl::StrAppend(&request.body, "&", Escaped(name), "=", Escaped(value));
  }
  SignAws(*keys, options_.region, options_.service, now, request);
  const absl::StatusOr<common::HttpAnswer> answer = http_->Send(request);
  if (!answer.ok()) {
    return absl::Status(answer.status().code(), absl::StrCat(action, ": ", std::string(answer.status().message())));
  }
  if (answer->status != 200) return ToStatus(action, *answer);
  absl::StatusOr<Xml> document = ParseXml(answer->body);
  if (!document.ok()) return absl::InternalError(absl::StrCat(action, ": ", std::string(document.status().message())));
  return document;
}

}  // namespace rekindle::fleet
