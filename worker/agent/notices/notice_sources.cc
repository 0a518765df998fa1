#include "worker/agent/notices/notice_sources.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log/log.h"

namespace rekindle::agent {

extern const SourceKind kAwsNotices, kGcpNotices, kAzureNotices, kKubernetesNotices;
// `kFileNotices` and `kCommandNotices` describe the sources of an operator's own notices, and are defined in
// operator_notices.cc.
extern const SourceKind kFileNotices, kCommandNotices;

namespace {

bool Lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(const NoticeOptions& options) {
  const std::vector<std::string> known = SourceNames();
  for (const auto& [name, endpoint] : options.endpoints) {
    if (Lists(known, name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("an endpoint of '", name, "', which is no source of notices"));
  }
  for (const std::string& name : options.sources) {
    const bool alone = options.sources.size() == 1 && (name == "auto" || name == "none");
    if (alone || Lists(known, name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("'", Printable(name, 40),
                                                   "' among the sources of notices: use auto ",
                                                   "alone, none alone, or some of ", absl::StrJoin(known, ",")));
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const SourceKind* const> SourceKinds() {
  static constexpr std::array kKinds{
      &kAwsNotices,         //
      &kGcpNotices,         //
      &kAzureNotices,       //
      &kKubernetesNotices,  //
      &kFileNotices,        //
      &kCommandNotices,     //
  };
  return kKinds;
}

std::vector<std::string> SourceNames() {
  std::vector<std::string> names;
  for (const SourceKind* kind : SourceKinds()) names.push_back(kind->name);
  return names;
}

absl::StatusOr<std::vector<OpenSource>> OpenSources(const NoticeOptions& options, const Machine& machine) {
  const absl::Status known = CheckNames(options);
  if (!known.ok()) return known;
  const bool detect = Lists(options.sources, "auto");
  std::vector<OpenSource> opened;
  for (const SourceKind* kind : SourceKinds()) {
    if (detect ? !kind->detect(options, machine) : !Lists(options.sources, kind->name)) continue;
    absl::StatusOr<std::unique_ptr<Source>> source = kind->open(options, machine);
    if (!source.ok()) {
      const std::string error = absl::StrCat("notices from ", kind->name, ": ", std::string(source.status().message()));
      if (!detect) return absl::InvalidArgumentError(error);
      // With --notices=auto nobody asked for a source of notices by name, so the agent starts without a source that
      // cannot be opened.
      log::Warning("goes without", {{"error", error}});
      continue;
    }
    opened.push_back({kind->name, kind->interval_seconds, *std::move(source)});
  }
  return opened;
}

}  // namespace rekindle::agent
