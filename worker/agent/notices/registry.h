// Which sources there are, and which of them this machine has.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_REGISTRY_H_
#define REKINDLE_WORKER_AGENT_NOTICES_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/agent/notices/machine.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

struct NoticeOptions {
  std::vector<std::string> sources = {"auto"};   // Names, or "auto" or "none" alone.
  std::string file;                              // Empty: none.
  std::string command;                           // Empty: none.
  std::map<std::string, std::string> endpoints;  // Instead of the documented ones, by source: for tests.
};

struct OpenSource {
  std::string name;
  double interval_seconds = 0;
  std::shared_ptr<Source> source;
};

// The sources of `options`, on this machine. INVALID_ARGUMENT says what does not fit, and what would.
absl::StatusOr<std::vector<OpenSource>> OpenSources(const NoticeOptions& options, const Machine& machine);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_REGISTRY_H_
