#include "worker/agent/notices/parse.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {
namespace {

constexpr int64_t kYear2000 = 946'684'800, kYear2200 = 7'258'118'400;
constexpr const char* kFormats[] = {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%a, %d %b %Y %H:%M:%S GMT", "%d %b %Y %H:%M:%S GMT"};

}  // namespace

std::string Printable(std::string_view text, size_t limit) {
  std::string shown(text.substr(0, limit));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

absl::StatusOr<double> ParseTimestamp(std::string_view text) {
  for (const char* format : kFormats) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(format, absl::string_view(text.data(), text.size()), &time, &error)) continue;
    const int64_t seconds = absl::ToUnixSeconds(time);
    if (seconds >= kYear2000 && seconds < kYear2200) return static_cast<double>(seconds);
  }
  return absl::InvalidArgumentError(absl::StrCat("'", Printable(text, 64), "' is no time"));
}

absl::StatusOr<nlohmann::json> ParseDocument(std::string_view text, const common::JsonLimits& limits) {
  absl::StatusOr<nlohmann::json> document = common::ParseStrictJson(text, limits);
  if (document.ok() && !document->is_structured()) return absl::InvalidArgumentError("bad JSON: a lone value");
  return document;
}

absl::StatusOr<std::string> StringIn(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return absl::InvalidArgumentError("an object is expected");
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return absl::InvalidArgumentError(absl::StrCat("the string '", key, "' is missing"));
  }
  return found->get<std::string>();
}

std::string StringOr(const nlohmann::json& object, const char* key) {
  return StringIn(object, key).value_or(std::string());
}

}  // namespace rekindle::agent
