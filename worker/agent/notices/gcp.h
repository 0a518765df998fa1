// Google Compute Engine: preemption and host maintenance, from the metadata server of the host, each second. Neither
// document has a time: a preempted machine goes 30 seconds after the word, one that maintenance stops 60 or more.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_GCP_H_
#define REKINDLE_WORKER_AGENT_NOTICES_GCP_H_

#include <memory>
#include <string_view>
#include <vector>

#include "common/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr double kGcpSeconds = 1;
inline constexpr char kGcpEndpoint[] =
    "http://169.254.169.254";  // metadata.google.internal, without asking a resolver.
inline constexpr double kPreemptionSeconds = 30;
inline constexpr double kMaintenanceSeconds = 60;

// instance/preempted, first seen at `now`.
absl::StatusOr<std::vector<Notice>> ParsePreempted(std::string_view text, double now);
// instance/maintenance-event
absl::StatusOr<std::vector<Notice>> ParseMaintenanceEvent(std::string_view text, double now);

std::unique_ptr<Source> NewGcpSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_GCP_H_
