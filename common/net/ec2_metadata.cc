#include "common/net/ec2_metadata.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

// `kTokenSeconds` is the longest lifetime that the metadata service of EC2 allows for a token. A token is renewed after
// half of it.
constexpr double kTokenSeconds = 21600;
constexpr size_t kMaxToken = 1024;
constexpr char kTokenHeader[] = "X-aws-ec2-metadata-token";

}  // namespace

absl::StatusOr<std::string> Ec2Metadata::Get(const std::string& path, double now) {
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
    // The metadata service refused the token before its lifetime was over, as it may if the machine was suspended.
    token_.clear();
  }
  return absl::InternalError("not reached");
}

absl::Status Ec2Metadata::HaveToken(double now) {
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

}  // namespace rekindle::common
