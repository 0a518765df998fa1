#include "coordinator/fleet/providers/http/cloud_api.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/text/printable.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kLongestMessage = 300;

// Finds the error message in the body of an answer, in the forms that the services use. Azure sends {"error": {"code":
// "...", "message": "..."}}. Google adds {"errors": [{"reason": "..."}]} to that. Token services send
// {"error_description": "..."}, and Kubernetes sends {"message": "..."}.
std::string MessageIn(const std::string& body) {
  const auto document = common::ParseDocument(body);
  if (!document.ok() || !document->is_object()) return "";
  const auto error = document->find("error");
  if (error != document->end() && error->is_object()) {
    std::string code = common::StringOr(*error, "code");
    const auto details = error->find("errors");
    if (details != error->end() && details->is_array() && !details->empty()) {
      code = common::StringOr(details->front(), "reason");
    }
    return absl::StrCat(code, code.empty() ? "" : ": ", common::StringOr(*error, "message"));
  }
  for (const char* key : {"error_description", "message", "error"}) {
    const std::string text = common::StringOr(*document, key);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

Variables ProcessVariables() {
  return [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
}

double RetryAfterOf(const common::HttpAnswer& answer, double now) {
  const auto header = answer.headers.find("retry-after");
  if (header == answer.headers.end()) return 0;
  double seconds = 0;
  if (absl::SimpleAtod(header->second, &seconds)) return seconds > 0 ? seconds : 0;
  absl::Time time;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", header->second, &time, &error)) return 0;
  return std::max(0.0, absl::ToDoubleSeconds(time - absl::UnixEpoch()) - now);
}

absl::Status ErrorOf(const std::string& what, const common::HttpAnswer& answer, const std::string& message) {
  const std::string text = absl::StrCat(what, ": HTTP status ", answer.status, message.empty() ? "" : ": ",
                                        common::Printable(message, kLongestMessage));
  const double retry_after = RetryAfterOf(answer, common::WallSeconds());
  switch (answer.status) {
    case 401:
      return absl::UnauthenticatedError(text);
    case 403:
      return absl::PermissionDeniedError(text);
    case 404:
      return absl::NotFoundError(text);
    case 409:
      return absl::AbortedError(text);
    case 429:
      return Throttled(text, retry_after);
    default:
      if (answer.status < 500) return absl::InvalidArgumentError(text);
      return retry_after > 0 ? Throttled(text, retry_after) : absl::UnavailableError(text);
  }
}

absl::StatusOr<nlohmann::json> JsonAnswer(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer) {
  if (!answer.ok()) {
    return absl::Status(answer.status().code(), absl::StrCat(what, ": ", std::string(answer.status().message())));
  }
  if (answer->status / 100 != 2) return ErrorOf(what, *answer, MessageIn(answer->body));
  if (answer->body.empty()) return nlohmann::json::object();
  auto document = common::ParseDocument(answer->body, kApiJson);
  if (document.ok()) return document;
  return absl::InternalError(absl::StrCat(what, ": ", std::string(document.status().message())));
}

absl::Status RefineShortage(const absl::Status& status, const std::vector<std::string>& words) {
  if (status.ok()) return status;
  for (const std::string& word : words) {
    if (absl::StrContains(status.message(), word)) return absl::ResourceExhaustedError(status.message());
  }
  return status;
}

const nlohmann::json& Member(const nlohmann::json& object, const char* key) {
  static const auto* nothing = new nlohmann::json;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? *nothing : *found;
}

double UnixTime(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return 0;
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Escaped(const std::string& text) {
  std::string out;
  for (const unsigned char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      out += static_cast<char>(c);
    } else {
      absl::StrAppendFormat(&out, "%%%02X", c);
    }
  }
  return out;
}

absl::Status CheckTime(double begun, double seconds) {
  if (common::SteadySeconds() - begun < seconds) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("it took more than ", seconds, " s"));
}

}  // namespace rekindle::fleet
