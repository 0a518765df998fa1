// Reads notices of Amazon EC2 from the instance metadata service: spot interruption, rebalance recommendation and
// scheduled maintenance.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_AWS_NOTICES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_AWS_NOTICES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// Parses EC2's metadata document spot/instance-action.
absl::StatusOr<std::vector<Notice>> ParseInstanceAction(std::string_view text);
// Parses EC2's metadata document events/recommendations/rebalance.
absl::StatusOr<std::vector<Notice>> ParseRebalance(std::string_view text);
// Parses EC2's metadata document events/maintenance/scheduled.
absl::StatusOr<std::vector<Notice>> ParseScheduledMaintenance(std::string_view text);

std::unique_ptr<Source> NewAwsSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_AWS_NOTICES_H_
