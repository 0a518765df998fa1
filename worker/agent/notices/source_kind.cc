#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {

std::string NoticeOptions::Given(const std::string& source) const {
  const auto found = given.find(source);
  return found == given.end() ? "" : found->second;
}

absl::StatusOr<std::unique_ptr<common::Http>> OpenEndpoint(const NoticeOptions& options, const std::string& source,
                                                           const std::string& documented,
                                                           const common::HttpOptions& http) {
  const auto found = options.endpoints.find(source);
  return common::OpenHttp(found == options.endpoints.end() ? documented : found->second, http);
}

}  // namespace rekindle::agent
