// Lists the sources of interruption notices and finds out which of them this machine has.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_NOTICE_SOURCES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_NOTICE_SOURCES_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {

std::span<const SourceKind* const> SourceKinds();
// Returns the names of all sources of interruption notices.
std::vector<std::string> SourceNames();

struct OpenSource {
  std::string name;
  double interval_seconds = 0;
  std::shared_ptr<Source> source;
};

// Opens the sources of notices that `options` name, or that this machine has. An INVALID_ARGUMENT says which option is
// wrong and which values are valid.
absl::StatusOr<std::vector<OpenSource>> OpenSources(const NoticeOptions& options, const Machine& machine);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_NOTICE_SOURCES_H_
