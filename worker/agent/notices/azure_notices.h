// Reads Azure's scheduled events (preemption, reboot, redeployment, deletion, freeze) from the instance metadata
// service each second. An event happens at its time, or earlier when every machine that it names has acknowledged it.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_AZURE_NOTICES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_AZURE_NOTICES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// Returns Azure's scheduled events for the machine named `self`. An event without a time counts from `now`. The service
// also reports events of the machine's neighbours in a scale set, and those are left out. An event for several machines
// is acknowledged by none of them, because the acknowledgement of one would start the event on all.
absl::StatusOr<std::vector<Notice>> ParseScheduledEvents(std::string_view text, std::string_view self, double now);
// Returns the request body that acknowledges a scheduled event of Azure.
std::string StartRequest(const std::string& event);

std::unique_ptr<Source> NewAzureSource(std::unique_ptr<common::Http> http);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_AZURE_NOTICES_H_
