// Declares what a source of notices is: how it is recognised and opened. Each source is one file here.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_SOURCE_KIND_H_
#define REKINDLE_WORKER_AGENT_NOTICES_SOURCE_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "worker/agent/notices/machine_facts.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

struct NoticeOptions {
  // The list has names of sources, or "auto" or "none" alone.
  std::vector<std::string> sources = {"auto"};
  // `given` has what the flag of a source says, by the source's name. An empty text counts as none.
  std::map<std::string, std::string> given;
  // Tests set endpoints by source, in place of the documented ones.
  std::map<std::string, std::string> endpoints;

  // Returns what the flag of that source says, or an empty text.
  std::string Given(const std::string& source) const;
};

struct SourceKind {
  // `name` is what --notices and messages call the source.
  const char* name;
  double interval_seconds;
  // `flag` is a flag of the agent by which its user says where this source is found, and `help` is its help. Both are
  // null for a source that has none.
  const char* flag = nullptr;
  const char* help = nullptr;
  // Returns whether this machine has the source. It is not asked for a source that the user names.
  bool (*detect)(const NoticeOptions& options, const Machine& machine);
  // The error says what is wrong with the options, or with the machine.
  absl::StatusOr<std::unique_ptr<Source>> (*open)(const NoticeOptions& options, const Machine& machine);
};

// Opens the endpoint that `options` have for that source, or else the documented one.
absl::StatusOr<std::unique_ptr<common::Http>> OpenEndpoint(const NoticeOptions& options, const std::string& source,
                                                           const std::string& documented,
                                                           const common::HttpOptions& http = {});

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_SOURCE_KIND_H_
