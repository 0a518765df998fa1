// Amazon EC2: spot interruption, rebalance recommendation and scheduled maintenance, from the instance metadata
// service. Amazon's guide asks to look every 5 seconds.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_AWS_H_
#define REKINDLE_WORKER_AGENT_NOTICES_AWS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr double kAwsSeconds = 5;

// spot/instance-action
absl::StatusOr<std::vector<Notice>> ParseInstanceAction(std::string_view text);
// events/recommendations/rebalance
absl::StatusOr<std::vector<Notice>> ParseRebalance(std::string_view text);
// events/maintenance/scheduled
absl::StatusOr<std::vector<Notice>> ParseScheduledMaintenance(std::string_view text);

std::unique_ptr<Source> NewAwsSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_AWS_H_
