#include "worker/agent/notices/azure_notices.h"

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "worker/agent/notices/parse.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {
namespace {

constexpr double kIntervalSeconds = 1;
constexpr char kEndpoint[] = "http://169.254.169.254";
constexpr char kEvents[] = "/metadata/scheduledevents?api-version=2020-07-01";
constexpr char kName[] = "/metadata/instance/compute/name?api-version=2021-02-01&format=text";
constexpr size_t kMaxName = 256;
constexpr size_t kMaxEventId = 128;

class AzureSource final : public Source {
 public:
  explicit AzureSource(std::unique_ptr<common::Http> http) : http_(std::move(http)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    if (self_.empty()) {
      absl::StatusOr<std::string> name = Get(kName);
      if (!name.ok()) return name.status();
      absl::StripAsciiWhitespace(&*name);
      if (name->empty() || name->size() > kMaxName) return absl::InvalidArgumentError("no name of this machine");
      self_ = *std::move(name);
    }
    const absl::StatusOr<std::string> text = Get(kEvents);
    if (!text.ok()) return text.status();
    absl::StatusOr<std::vector<Notice>> found = ParseScheduledEvents(*text, self_, now);
    if (!found.ok()) return found.status();
    // An Azure event that has started has no time, so it counts from when it was first seen.
    std::map<std::string, double> started;
    for (Notice& notice : *found) {
      const auto before = started_.find(notice.id);
      if (notice.at == now && before != started_.end()) notice.at = before->second;
      if (notice.at) started[notice.id] = *notice.at;
    }
    started_ = std::move(started);
    return found;
  }

  absl::Status Acknowledge(const Notice& notice) override {
    const absl::StatusOr<common::HttpAnswer> answer = http_->Send(
        {.method = "POST", .path = kEvents, .headers = {{"Metadata", "true"}}, .body = StartRequest(notice.id)});
    if (!answer.ok()) return answer.status();
    if (answer->status == 200) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("acknowledgement: HTTP status ", answer->status));
  }

 private:
  absl::StatusOr<std::string> Get(const char* path) {
    absl::StatusOr<common::HttpAnswer> answer = http_->Send({.path = path, .headers = {{"Metadata", "true"}}});
    if (!answer.ok()) return answer.status();
    if (answer->status == 200) return std::move(answer->body);
    return absl::UnavailableError(absl::StrCat(path, ": HTTP status ", answer->status));
  }

  const std::unique_ptr<common::Http> http_;
  std::string self_;
  std::map<std::string, double> started_;
};

// Adds an Azure event to `notices` if it names the machine `self`. Returns OK also if it names only other machines.
absl::Status AddEvent(const nlohmann::json& event, std::string_view self, double now, std::vector<Notice>* notices) {
  const absl::StatusOr<std::string> id = StringIn(event, "EventId"), type = StringIn(event, "EventType");
  if (!id.ok()) return id.status();
  if (!type.ok()) return type.status();
  const auto resources = event.find("Resources");
  if (resources == event.end() || !resources->is_array() || id->empty() || id->size() > kMaxEventId) {
    return absl::InvalidArgumentError("an event without an id or an array 'Resources'");
  }
  bool ours = false;
  for (const nlohmann::json& resource : *resources) {
    ours = ours || (resource.is_string() && absl::EqualsIgnoreCase(resource.get_ref<const std::string&>(),
                                                                   absl::string_view(self.data(), self.size())));
  }
  if (!ours) return absl::OkStatus();
  Notice notice{.id = *id, .what = absl::StrCat("scheduled event (", Printable(*type, 32), ")"), .at = now};
  const std::string begin = StringOr(event, "NotBefore");
  if (!begin.empty()) {
    const absl::StatusOr<double> at = ParseTimestamp(begin);
    if (!at.ok()) return at.status();
    notice.at = *at;
  }
  // An Azure freeze pauses the machine for some seconds and keeps its memory, so the machine does not leave.
  notice.leaves = *type != "Freeze";
  notice.acknowledge = notice.leaves && resources->size() == 1 && StringOr(event, "EventStatus") == "Scheduled";
  if (notices->size() < kMaxNotices) notices->push_back(std::move(notice));
  return absl::OkStatus();
}

// Under Hyper-V, machines outside Azure have the same vendor and product as those in Azure. Only the chassis tag
// differs.
bool Detect(const NoticeOptions&, const Machine& machine) {
  return machine.Dmi("chassis_asset_tag") == "7783-7084-3265-9085-8269-3286-77";
}

absl::StatusOr<std::unique_ptr<Source>> Open(const NoticeOptions& options, const Machine&) {
  auto http = OpenEndpoint(options, "azure", kEndpoint);
  if (!http.ok()) return http.status();
  return NewAzureSource(*std::move(http));
}

}  // namespace

absl::StatusOr<std::vector<Notice>> ParseScheduledEvents(std::string_view text, std::string_view self, double now) {
  const auto document = ParseDocument(text);
  if (!document.ok()) return document.status();
  if (!document->is_object()) return absl::InvalidArgumentError("an object is expected");
  const auto events = document->find("Events");
  if (events == document->end() || !events->is_array()) {
    return absl::InvalidArgumentError("the array 'Events' is missing");
  }
  std::vector<Notice> notices;
  for (const nlohmann::json& event : *events) {
    const absl::Status added = AddEvent(event, self, now, &notices);
    if (!added.ok()) return added;
  }
  return notices;
}

std::string StartRequest(const std::string& event) {
  return nlohmann::json({{"StartRequests", {{{"EventId", event}}}}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::unique_ptr<Source> NewAzureSource(std::unique_ptr<common::Http> http) {
  return std::make_unique<AzureSource>(std::move(http));
}

extern const SourceKind kAzureNotices;
const SourceKind kAzureNotices{.name = "azure", .interval_seconds = kIntervalSeconds, .detect = Detect, .open = Open};

}  // namespace rekindle::agent
