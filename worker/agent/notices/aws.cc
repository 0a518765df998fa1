#include "worker/agent/notices/aws.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/agent/notices/parse.h"

namespace rekindle::agent {
namespace {

constexpr double kTokenSeconds = 21600;  // The longest there is. Renewed at half of it.
constexpr size_t kMaxToken = 1024;
constexpr char kTokenHeader[] = "X-aws-ec2-metadata-token";

using Parse = absl::StatusOr<std::vector<Notice>> (*)(std::string_view);
constexpr std::pair<const char*, Parse> kDocuments[] = {
    {"/latest/meta-data/spot/instance-action", ParseInstanceAction},
    {"/latest/meta-data/events/recommendations/rebalance", ParseRebalance},
    {"/latest/meta-data/events/maintenance/scheduled", ParseScheduledMaintenance},
};

class AwsSource final : public Source {
 public:
  explicit AwsSource(std::unique_ptr<Http> http) : http_(std::move(http)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    std::vector<Notice> all;
    for (const auto& [path, parse] : kDocuments) {
      const absl::StatusOr<std::string> text = Get(path, now);
      if (!text.ok()) return text.status();
      if (text->empty()) continue;
      absl::StatusOr<std::vector<Notice>> found = parse(*text);
      if (!found.ok())
        return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(found.status().message())));
      std::move(found->begin(), found->end(), std::back_inserter(all));
    }
    return all;
  }

 private:
  // Empty when there is no such document, which means: no such notice.
  absl::StatusOr<std::string> Get(const std::string& path, double now) {
    for (const bool again : {false, true}) {
      const absl::Status ready = HaveToken(now);
      if (!ready.ok()) return ready;
      absl::StatusOr<HttpAnswer> answer = http_->Send({.path = path, .headers = {{kTokenHeader, token_}}});
      if (!answer.ok()) return answer.status();
      if (answer->status == 200) return std::move(answer->body);
      if (answer->status == 404) return std::string();
      if (answer->status != 401 || again) {
        return absl::UnavailableError(absl::StrCat(path, ": HTTP status ", answer->status));
      }
      token_.clear();  // It expired before its time, as when a machine was suspended.
    }
    return absl::InternalError("not reached");
  }

  absl::Status HaveToken(double now) {
    if (!token_.empty() && now >= token_since_ && now < token_since_ + kTokenSeconds / 2) return absl::OkStatus();
    token_.clear();
    const absl::StatusOr<HttpAnswer> answer = http_->Send(
        {.method = "PUT",
         .path = "/latest/api/token",
         .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", absl::StrCat(static_cast<int>(kTokenSeconds))}}});
    if (!answer.ok()) {
      return absl::Status(answer.status().code(),
                          absl::StrCat(std::string(answer.status().message()),
                                       " (in a container, the instance's metadata hop limit must be 2 or more)"));
    }
    if (answer->status != 200) return absl::UnavailableError(absl::StrCat("token: HTTP status ", answer->status));
    const std::string& token = answer->body;
    const bool fit = !token.empty() && token.size() <= kMaxToken &&
                     std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!fit) return absl::InvalidArgumentError("token: not one word of printable characters");
    token_ = token;
    token_since_ = now;
    return absl::OkStatus();
  }

  const std::unique_ptr<Http> http_;
  std::string token_;
  double token_since_ = 0;
};

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
    // "system-maintenance" disturbs network or power for a while and takes no instance.
    notices.push_back({.id = Printable(*id, 64),
                       .what = absl::StrCat("scheduled maintenance (", Printable(*code, 32), ")"),
                       .leaves = *code != "system-maintenance",
                       .at = *at});
  }
  return notices;
}

std::unique_ptr<Source> NewAwsSource(std::unique_ptr<Http> http) {
  return std::make_unique<AwsSource>(std::move(http));
}

}  // namespace rekindle::agent
