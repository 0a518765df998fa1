#include "worker/agent/notices/parse.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {
namespace {

constexpr int64_t kYear2000 = 946'684'800, kYear2200 = 7'258'118'400;
constexpr const char* kFormats[] = {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%a, %d %b %Y %H:%M:%S GMT", "%d %b %Y %H:%M:%S GMT"};

}  // namespace

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

}  // namespace rekindle::agent
