// Reads notices of Google Compute Engine from the metadata server of the host each second: preemption and host
// maintenance. Neither of the two documents has a time. A preempted machine is taken away 30 seconds after the notice,
// and one that maintenance stops is taken away after 60 seconds or more.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_GCP_NOTICES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_GCP_NOTICES_H_

#include <memory>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr double kPreemptionSeconds = 30;
inline constexpr double kMaintenanceSeconds = 60;

// Parses Compute Engine's metadata document instance/preempted. The 30 seconds of its notice count from `now`.
absl::StatusOr<std::vector<Notice>> ParsePreempted(std::string_view text, double now);
// Parses Compute Engine's metadata document instance/maintenance-event. The 60 seconds of its notice count from `now`.
absl::StatusOr<std::vector<Notice>> ParseMaintenanceEvent(std::string_view text, double now);

std::unique_ptr<Source> NewGcpSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_GCP_NOTICES_H_
