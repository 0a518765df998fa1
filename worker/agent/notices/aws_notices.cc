#include "worker/agent/notices/aws_notices.h"

#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/net/ec2_metadata.h"
#include "worker/agent/notices/parse.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {
namespace {

// Amazon's guide recommends to look for spot interruption notices every 5 seconds.
constexpr double kIntervalSeconds = 5;
using Parse = absl::StatusOr<std::vector<Notice>> (*)(std::string_view);
constexpr std::pair<const char*, Parse> kDocuments[] = {
    {"/latest/meta-data/spot/instance-action", ParseInstanceAction},
    {"/latest/meta-data/events/recommendations/rebalance", ParseRebalance},
    {"/latest/meta-data/events/maintenance/scheduled", ParseScheduledMaintenance},
};

class AwsSource final : public Source {
 public:
  explicit AwsSource(std::unique_ptr<common::Http> http) : metadata_(std::move(http)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    std::vector<Notice> all;
    for (const auto& [path, parse] : kDocuments) {
      const absl::StatusOr<std::string> text = metadata_.Get(path, now);
      if (!text.ok()) return text.status();
      // The metadata service gives an empty answer for a document if there is no notice of that kind.
      if (text->empty()) continue;
      absl::StatusOr<std::vector<Notice>> found = parse(*text);
      if (!found.ok())
        return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(found.status().message())));
      std::move(found->begin(), found->end(), std::back_inserter(all));
    }
    return all;
  }

 private:
  common::Ec2Metadata metadata_;
};

// The firmware of an EC2 instance of type Nitro names Amazon as the vendor, and that of an instance of type Xen names
// Amazon in the BIOS version. See "identify EC2 instances" at https://docs.aws.amazon.com.
bool Detect(const NoticeOptions&, const Machine& machine) {
  return machine.Dmi("sys_vendor") == "Amazon EC2" || absl::StrContains(machine.Dmi("bios_version"), "amazon");
}

absl::StatusOr<std::unique_ptr<Source>> Open(const NoticeOptions& options, const Machine&) {
  auto http = OpenEndpoint(options, "aws", common::kEc2MetadataEndpoint);
  if (!http.ok()) return http.status();
  return NewAwsSource(*std::move(http));
}

}  // namespace

absl::StatusOr<std::vector<Notice>> ParseInstanceAction(std::string_view text) {
  const auto document = ParseDocument(text);
  if (!document.ok()) return document.status();
  const absl::StatusOr<std::string> action = StringIn(*document, "action");
  const absl::StatusOr<std::string> time = StringIn(*document, "time");
  if (!action.ok()) return action.status();
  if (!time.ok()) return time.status();
  const absl::StatusOr<double> at = ParseTimestamp(*time);
  if (!at.ok()) return at.status();
  return std::vector<Notice>{
      {.id = "instance-action", .what = absl::StrCat("spot interruption (", Printable(*action, 32), ")"), .at = *at}};
}

absl::StatusOr<std::vector<Notice>> ParseRebalance(std::string_view text) {
  const auto document = ParseDocument(text);
  if (!document.ok()) return document.status();
  const absl::StatusOr<std::string> time = StringIn(*document, "noticeTime");
  if (!time.ok()) return time.status();
  return std::vector<Notice>{
      {.id = "rebalance", .what = "rebalance recommended: higher risk of a spot interruption", .leaves = false}};
}

absl::StatusOr<std::vector<Notice>> ParseScheduledMaintenance(std::string_view text) {
  const auto document = ParseDocument(text);
  if (!document.ok()) return document.status();
  if (!document->is_array()) return absl::InvalidArgumentError("an array is expected");
  std::vector<Notice> notices;
  for (const nlohmann::json& event : *document) {
    const absl::StatusOr<std::string> id = StringIn(event, "EventId");
    const absl::StatusOr<std::string> code = StringIn(event, "Code");
    const absl::StatusOr<std::string> begin = StringIn(event, "NotBefore");
    for (const auto* part : {&id, &code, &begin}) {
      if (!part->ok()) return part->status();
    }
    if (StringOr(event, "State") != "active") continue;
    const absl::StatusOr<double> at = ParseTimestamp(*begin);
    if (!at.ok()) return at.status();
    if (notices.size() >= kMaxNotices) break;
    // An EC2 event "system-maintenance" disturbs network or power for a while but takes no instance away.
    notices.push_back({.id = Printable(*id, 64),
                       .what = absl::StrCat("scheduled maintenance (", Printable(*code, 32), ")"),
                       .leaves = *code != "system-maintenance",
                       .at = *at});
  }
  return notices;
}

std::unique_ptr<Source> NewAwsSource(std::unique_ptr<common::Http> http) {
  return std::make_unique<AwsSource>(std::move(http));
}

extern const SourceKind kAwsNotices;
const SourceKind kAwsNotices{.name = "aws", .interval_seconds = kIntervalSeconds, .detect = Detect, .open = Open};

}  // namespace rekindle::agent
