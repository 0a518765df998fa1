#include "worker/agent/notices/registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/ec2_metadata.h"
#include "common/http.h"
#include "common/log.h"
#include "worker/agent/notices/aws.h"
#include "worker/agent/notices/azure.h"
#include "worker/agent/notices/gcp.h"
#include "worker/agent/notices/kubernetes.h"
#include "worker/agent/notices/operator.h"

namespace rekindle::agent {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<Source>>;

std::string EndpointOf(const NoticeOptions& options, const std::string& source, const std::string& documented) {
  const auto found = options.endpoints.find(source);
  return found == options.endpoints.end() ? documented : found->second;
}

template <std::unique_ptr<Source> (*New)(std::unique_ptr<common::Http>)>
Opened OpenCloud(const NoticeOptions& options, const std::string& name, const char* documented) {
  auto http = common::OpenHttp(EndpointOf(options, name, documented));
  if (!http.ok()) return http.status();
  return New(*std::move(http));
}

Opened OpenAws(const NoticeOptions& options, const Machine&) {
  return OpenCloud<NewAwsSource>(options, "aws", common::kEc2MetadataEndpoint);
}
Opened OpenGcp(const NoticeOptions& options, const Machine&) {
  return OpenCloud<NewGcpSource>(options, "gcp", kGcpEndpoint);
}
Opened OpenAzure(const NoticeOptions& options, const Machine&) {
  return OpenCloud<NewAzureSource>(options, "azure", kAzureEndpoint);
}

Opened OpenKubernetes(const NoticeOptions& options, const Machine& machine) {
  absl::StatusOr<KubernetesNames> names = NamesOf(machine);
  if (!names.ok()) return names.status();
  const std::string host = machine.environment("KUBERNETES_SERVICE_HOST");
  const std::string shown = host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
  const std::string api = absl::StrCat("https://", shown, ":", machine.environment("KUBERNETES_SERVICE_PORT"));
  const std::string folder = kServiceAccount;
  auto http = common::OpenHttp(EndpointOf(options, "kubernetes", api), {.seconds = 2,
                                                                        .max_body = kMaxKubernetesAnswer,
                                                                        .ca_file = machine.root + folder + "/ca.crt",
                                                                        .allowed_host = host});
  if (!http.ok()) return http.status();
  return NewKubernetesSource(*std::move(http), *std::move(names),
                             [machine, folder] { return machine.Read(folder + "/token"); });
}

Opened OpenFile(const NoticeOptions& options, const Machine&) {
  if (options.file.empty()) return absl::InvalidArgumentError("--notice-file PATH is missing");
  return NewFileSource(options.file);
}
Opened OpenCommand(const NoticeOptions& options, const Machine&) {
  if (options.command.empty()) return absl::InvalidArgumentError("--notice-command CMD is missing");
  return NewCommandSource(options.command);
}

bool HasFile(const NoticeOptions& options, const Machine&) { return !options.file.empty(); }
bool HasCommand(const NoticeOptions& options, const Machine&) { return !options.command.empty(); }
template <bool (*Is)(const Machine&)>
bool Runs(const NoticeOptions&, const Machine& machine) {
  return Is(machine);
}

struct Kind {
  const char* name;
  double interval_seconds;
  bool (*detect)(const NoticeOptions&, const Machine&);
  Opened (*open)(const NoticeOptions&, const Machine&);
};
constexpr Kind kKinds[] = {
    {"aws", kAwsSeconds, Runs<IsEc2>, OpenAws},
    {"gcp", kGcpSeconds, Runs<IsGoogleCloud>, OpenGcp},
    {"azure", kAzureSeconds, Runs<IsAzure>, OpenAzure},
    {"kubernetes", kKubernetesSeconds, Runs<IsKubernetesPod>, OpenKubernetes},
    {"file", kFileSeconds, HasFile, OpenFile},
    {"command", kCommandSeconds, HasCommand, OpenCommand},
};

bool Lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(const NoticeOptions& options) {
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) known.push_back(kind.name);
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

absl::StatusOr<std::vector<OpenSource>> OpenSources(const NoticeOptions& options, const Machine& machine) {
  const absl::Status known = CheckNames(options);
  if (!known.ok()) return known;
  const bool detect = Lists(options.sources, "auto");
  std::vector<OpenSource> opened;
  for (const Kind& kind : kKinds) {
    if (detect ? !kind.detect(options, machine) : !Lists(options.sources, kind.name)) continue;
    absl::StatusOr<std::unique_ptr<Source>> source = kind.open(options, machine);
    if (!source.ok()) {
      const std::string error = absl::StrCat("notices from ", kind.name, ": ", std::string(source.status().message()));
      if (!detect) return absl::InvalidArgumentError(error);
      log::Warning("goes without", {{"error", error}});  // Nobody asked for it.
      continue;
    }
    opened.push_back({kind.name, kind.interval_seconds, *std::move(source)});
  }
  return opened;
}

}  // namespace rekindle::agent
