#include "worker/agent/notices/gcp_notices.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {
namespace {

constexpr double kIntervalSeconds = 1;
// `kEndpoint` is the IP address of metadata.google.internal, so that the agent needs no DNS resolver.
constexpr char kEndpoint[] = "http://169.254.169.254";
std::string Word(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

absl::Status Unknown(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("an unknown answer '", Printable(text, 40), "'"));
}

using Parse = absl::StatusOr<std::vector<Notice>> (*)(std::string_view, double);
constexpr std::pair<const char*, Parse> kDocuments[] = {
    {"/computeMetadata/v1/instance/preempted", ParsePreempted},
    {"/computeMetadata/v1/instance/maintenance-event", ParseMaintenanceEvent},
};

class GcpSource final : public Source {
 public:
  explicit GcpSource(std::unique_ptr<common::Http> http) : http_(std::move(http)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    std::vector<Notice> all;
    for (const auto& [path, parse] : kDocuments) {
      const absl::StatusOr<common::HttpAnswer> answer =
          http_->Send({.path = path, .headers = {{"Metadata-Flavor", "Google"}, {"Host", "metadata.google.internal"}}});
      if (!answer.ok()) return answer.status();
      if (answer->status != 200) return absl::UnavailableError(absl::StrCat(path, ": HTTP status ", answer->status));
      const auto flavor = answer->headers.find("metadata-flavor");
      if (flavor == answer->headers.end() || flavor->second != "Google") {
        return absl::FailedPreconditionError(absl::StrCat(path, ": another server than Google's answered"));
      }
      absl::StatusOr<std::vector<Notice>> found = parse(answer->body, now);
      if (!found.ok())
        return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(found.status().message())));
      for (Notice& notice : *found) all.push_back(std::move(notice));
    }
    return KeepTimes(std::move(all));
  }

 private:
  // Gives each notice the time that it had when it was first seen, so that its remaining seconds do not start again at
  // each poll.
  std::vector<Notice> KeepTimes(std::vector<Notice> all) {
    std::map<std::string, double> times;
    for (Notice& notice : all) {
      const auto before = times_.find(notice.id);
      if (notice.at && before != times_.end()) notice.at = before->second;
      if (notice.at) times[notice.id] = *notice.at;
    }
    times_ = std::move(times);
    return all;
  }

  const std::unique_ptr<common::Http> http_;
  std::map<std::string, double> times_;
};

bool Detect(const NoticeOptions&, const Machine& machine) {
  return machine.Dmi("product_name") == "Google Compute Engine";
}

absl::StatusOr<std::unique_ptr<Source>> Open(const NoticeOptions& options, const Machine&) {
  auto http = OpenEndpoint(options, "gcp", kEndpoint);
  if (!http.ok()) return http.status();
  return NewGcpSource(*std::move(http));
}

}  // namespace

absl::StatusOr<std::vector<Notice>> ParsePreempted(std::string_view text, double now) {
  const std::string word = Word(text);
  if (word == "FALSE") return std::vector<Notice>();
  if (word != "TRUE") return Unknown(text);
  return std::vector<Notice>{{.id = "preempted", .what = "preempted", .at = now + kPreemptionSeconds}};
}

absl::StatusOr<std::vector<Notice>> ParseMaintenanceEvent(std::string_view text, double now) {
  const std::string word = Word(text);
  if (word == "NONE") return std::vector<Notice>();
  if (word == "MIGRATE_ON_HOST_MAINTENANCE") {
    return std::vector<Notice>{{.id = word, .what = "live migration: a short pause", .leaves = false}};
  }
  if (word != "TERMINATE_ON_HOST_MAINTENANCE") return Unknown(text);
  return std::vector<Notice>{{.id = word, .what = "host maintenance", .at = now + kMaintenanceSeconds}};
}

std::unique_ptr<Source> NewGcpSource(std::unique_ptr<common::Http> http) {
  return std::make_unique<GcpSource>(std::move(http));
}

extern const SourceKind kGcpNotices;
const SourceKind kGcpNotices{.name = "gcp", .interval_seconds = kIntervalSeconds, .detect = Detect, .open = Open};

}  // namespace rekindle::agent
