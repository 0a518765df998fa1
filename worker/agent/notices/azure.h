// Azure: scheduled events (preemption, reboot, redeployment, deletion, freeze) from the instance metadata service, each
// second. An event waits for its time, or until every machine that it is for has acknowledged it.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_AZURE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_AZURE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr double kAzureSeconds = 1;
inline constexpr char kAzureEndpoint[] = "http://169.254.169.254";

// The events for the machine named `self`, first seen at `now`. Those of its neighbours in a scale set are told too,
// and are passed over. One for several machines is not acknowledged by any of them: the word of one would start it on
// all.
absl::StatusOr<std::vector<Notice>> ParseScheduledEvents(std::string_view text, std::string_view self, double now);
// What acknowledges an event.
std::string StartRequest(const std::string& event);

std::unique_ptr<Source> NewAzureSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_AZURE_H_
