#include "coordinator/fleet/file/carbon_file.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/net/http.h"
#include "common/spec/field_check.h"

namespace rekindle::fleet {
namespace {

constexpr double kPollSeconds = 300;
constexpr double kStaleHours = 2;
constexpr int kMaxFiles = 100;

}  // namespace

absl::Status ResolveCarbon(v1::Fleet* fleet) {
  if (!fleet->has_carbon()) return absl::OkStatus();
  v1::Fleet::Carbon& carbon = *fleet->mutable_carbon();
  if (carbon.files().empty() == carbon.url().empty()) {
    return common::WrongField("carbon", "needs `files` or `url`, one of them: it says where intensity comes from");
  }
  if (carbon.files_size() > kMaxFiles)
    return common::WrongField("carbon.files", absl::StrCat("has more than ", kMaxFiles, " files"));
  if (std::count(carbon.files().begin(), carbon.files().end(), "") > 0)
    return common::WrongField("carbon.files", "has an empty name");
  if (!carbon.url().empty()) {
    if (const auto url = ParseFeedUrl(carbon.url()); !url.ok()) return url.status();
  }
  if (carbon.poll_seconds() == 0) carbon.set_poll_seconds(kPollSeconds);
  if (carbon.stale_after_hours() == 0) carbon.set_stale_after_hours(kStaleHours);
  for (const absl::Status& s : {common::CheckRange("carbon.poll_seconds", carbon.poll_seconds(), 10, 86400),
                                common::CheckRange("carbon.stale_after_hours", carbon.stale_after_hours(), 0.1, 48)}) {
    if (!s.ok()) return s;
  }
  if (std::none_of(fleet->pools().begin(), fleet->pools().end(),
                   [](const auto& pool) { return !pool.carbon_region().empty(); })) {
    return common::WrongField(
        "carbon", "no pool has a carbon_region: give it to each pool whose emissions count, or remove `carbon`");
  }
  return absl::OkStatus();
}

absl::StatusOr<FeedUrl> ParseFeedUrl(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t slash = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  const std::string origin = url.substr(0, slash);
  const bool plain = url.find_first_of(" \t\r\n#") == std::string::npos && origin.find('@') == std::string::npos;
  if (!plain || !common::CheckEndpoint(origin, {.reach = common::Reach::kSecure}).ok()) {
    return common::WrongField("carbon.url", "must be https://HOST[:PORT][/PATH], or http on loopback, without a user");
  }
  return FeedUrl{origin, slash == std::string::npos ? "/" : url.substr(slash)};
}

CarbonFile ParseCarbonFile(const std::string& file, const std::string& beside) {
  const size_t equals = file.find('=');
  const bool named = equals != std::string::npos && equals > 0 && file.find('/') > equals;
  const std::string path = named ? file.substr(equals + 1) : file;
  const bool absolute = path.rfind('/', 0) == 0 || beside.empty();
  return {named ? file.substr(0, equals) : "", absolute ? path : absl::StrCat(beside, "/", path)};
}

}  // namespace rekindle::fleet
