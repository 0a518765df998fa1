// Declares what a kind of source of interruption notices is: how it is recognised and opened. Each kind is one file in
// this folder.
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
  // `sources` has the names of the sources of notices to open, or "auto" or "none" alone.
  std::vector<std::string> sources = {"auto"};
  // `given` has the values of the flags that belong to single sources of notices, keyed by the source's name. An empty
  // text counts as none.
  std::map<std::string, std::string> given;
  // `endpoints` has the addresses that tests set in place of the documented addresses of metadata services and APIs,
  // keyed by the name of the source of notices.
  std::map<std::string, std::string> endpoints;

  // Returns the value of the flag that belongs to the source of notices `source`, or an empty text if the flag is not
  // given.
  std::string Given(const std::string& source) const;
};

struct SourceKind {
  // `name` is what --notices and messages call the source of notices.
  const char* name;
  double interval_seconds;
  // `flag` is a flag of the agent that says where this source's notices are found, and `help` is its help text. Both
  // are null for a source without a flag.
  const char* flag = nullptr;
  const char* help = nullptr;
  // Returns whether this machine has the source of notices. `detect` is not called for a source that the user names.
  bool (*detect)(const NoticeOptions& options, const Machine& machine);
  // Opens the source of notices. An error says what is wrong with the options, or with the machine.
  absl::StatusOr<std::unique_ptr<Source>> (*open)(const NoticeOptions& options, const Machine& machine);
};

// Opens the HTTP endpoint that the source of notices asks: the one that `options` set for it, or else the documented
// one.
absl::StatusOr<std::unique_ptr<common::Http>> OpenEndpoint(const NoticeOptions& options, const std::string& source,
                                                           const std::string& documented,
                                                           const common::HttpOptions& http = {});

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_SOURCE_KIND_H_
