#include "worker/agent/notices/kubernetes_notices.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/agent/notices/parse.h"
#include "worker/agent/notices/source_kind.h"

namespace rekindle::agent {
namespace {

// Kubernetes answers from the API server's cache (resourceVersion=0), so it does no harm if many nodes poll.
constexpr double kIntervalSeconds = 5;
// The Kubernetes API's answer for a node is long because it lists the node's images.
constexpr size_t kMaxAnswer = 1 << 20;
constexpr common::JsonLimits kLimits{.depth = 64, .values = 50'000};
constexpr size_t kMaxName = 253;

struct Taint {
  const char* key;
  // `seconds` is the time from the taint until the machine is taken away, as the documentation of the taint's handler
  // says. 0 means that the handler waits until the pods are deleted.
  double seconds;
  bool leaves;
};
constexpr Taint kTaints[] = {
    {"aws-node-termination-handler/spot-itn", 120, true},
    {"aws-node-termination-handler/asg-lifecycle-termination", 0, true},
    {"aws-node-termination-handler/scheduled-maintenance", 0, true},
    {"aws-node-termination-handler/rebalance-recommendation", 0, false},
    {"cloud.google.com/impending-node-termination", 30, true},
    {"ToBeDeletedByClusterAutoscaler", 0, true},
    {"DeletionCandidateOfClusterAutoscaler", 0, false},
    {"karpenter.sh/disrupted", 0, true},
    // Karpenter before version 1.0 marks a node that leaves with the taint karpenter.sh/disruption.
    {"karpenter.sh/disruption", 0, true},
    {"node.cloudprovider.kubernetes.io/shutdown", 0, true},
    {"node.kubernetes.io/out-of-service", 0, true},
};

const Taint* FindTaint(const std::string& key) {
  for (const Taint& taint : kTaints) {
    if (key == taint.key) return &taint;
  }
  return nullptr;
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kMaxName &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

class KubernetesSource final : public Source {
 public:
  KubernetesSource(std::unique_ptr<common::Http> http, KubernetesNames names, std::function<std::string()> token)
      : http_(std::move(http)), names_(std::move(names)), token_(std::move(token)) {}

  absl::StatusOr<std::vector<Notice>> Poll(double now) override {
    std::vector<Notice> all;
    if (!names_.pod.empty()) {
      const absl::StatusOr<std::string> text =
          Get(absl::StrCat("/api/v1/namespaces/", names_.pod_space, "/pods/", names_.pod, "?resourceVersion=0"),
              "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
      if (!text.ok()) return text.status();
      absl::StatusOr<std::vector<Notice>> found = ParsePod(*text);
      if (!found.ok()) return found.status();
      all = *std::move(found);
    }
    if (names_.node.empty()) return all;
    const absl::StatusOr<std::string> text =
        Get(absl::StrCat("/api/v1/nodes/", names_.node, "?resourceVersion=0"), "application/json");
    if (!text.ok()) return text.status();
    absl::StatusOr<std::vector<Notice>> found = ParseNode(*text, now);
    if (!found.ok()) return found.status();
    std::map<std::string, double> times;
    // The seconds until the machine is taken away count from when the taint was first seen.
    for (Notice& notice : *found) {
      const auto before = times_.find(notice.id);
      if (notice.at && before != times_.end()) notice.at = before->second;
      if (notice.at) times[notice.id] = *notice.at;
      all.push_back(std::move(notice));
    }
    times_ = std::move(times);
    return all;
  }

 private:
  absl::StatusOr<std::string> Get(const std::string& path, const std::string& accept) {
    const std::string token = token_();
    if (token.empty() || token.find_first_of("\r\n") != std::string::npos) {
      return absl::FailedPreconditionError("the service account's token cannot be read");
    }
    absl::StatusOr<common::HttpAnswer> answer =
        http_->Send({.path = path, .headers = {{"Accept", accept}, {"Authorization", absl::StrCat("Bearer ", token)}}});
    if (!answer.ok()) return answer.status();
    if (answer->status == 200) return std::move(answer->body);
    const char* fix = answer->status == 403 ? " (allow the service account to get it)" : "";
    return absl::UnavailableError(absl::StrCat(path, ": HTTP status ", answer->status, fix));
  }

  const std::unique_ptr<common::Http> http_;
  const KubernetesNames names_;
  const std::function<std::string()> token_;
  std::map<std::string, double> times_;
};

bool Detect(const NoticeOptions&, const Machine& machine) {
  return !machine.environment("KUBERNETES_SERVICE_HOST").empty() &&
         !machine.Read(std::string(kServiceAccount) + "/token").empty();
}

absl::StatusOr<std::unique_ptr<Source>> Open(const NoticeOptions& options, const Machine& machine) {
  absl::StatusOr<KubernetesNames> names = NamesOf(machine);
  if (!names.ok()) return names.status();
  const std::string host = machine.environment("KUBERNETES_SERVICE_HOST");
  const std::string shown = host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
  const std::string api = absl::StrCat("https://", shown, ":", machine.environment("KUBERNETES_SERVICE_PORT"));
  const std::string folder = kServiceAccount;
  auto http = OpenEndpoint(
      options, "kubernetes", api,
      {.seconds = 2, .max_body = kMaxAnswer, .ca_file = machine.root + folder + "/ca.crt", .allowed_host = host});
  if (!http.ok()) return http.status();
  return NewKubernetesSource(*std::move(http), *std::move(names),
                             [machine, folder] { return machine.Read(folder + "/token"); });
}

}  // namespace

absl::StatusOr<std::vector<Notice>> ParsePod(std::string_view text) {
  const auto document = ParseDocument(text, kLimits);
  if (!document.ok()) return document.status();
  const auto metadata = document->is_object() ? document->find("metadata") : document->end();
  if (metadata == document->end() || !metadata->is_object()) {
    return absl::InvalidArgumentError("a pod without metadata");
  }
  if (!metadata->contains("deletionTimestamp")) return std::vector<Notice>();
  const absl::StatusOr<std::string> time = StringIn(*metadata, "deletionTimestamp");
  if (!time.ok()) return time.status();
  // The deletion timestamp of a pod includes the grace period, so it is when the pod will be killed.
  const absl::StatusOr<double> at = ParseTimestamp(*time);
  if (!at.ok()) return at.status();
  return std::vector<Notice>{{.id = "pod", .what = "the pod is being deleted", .at = *at}};
}

absl::StatusOr<std::vector<Notice>> ParseNode(std::string_view text, double now) {
  const auto document = ParseDocument(text, kLimits);
  if (!document.ok()) return document.status();
  const auto spec = document->is_object() ? document->find("spec") : document->end();
  if (spec == document->end() || !spec->is_object()) return absl::InvalidArgumentError("a node without a spec");
  std::vector<Notice> notices;
  const auto taints = spec->find("taints");
  if (taints == spec->end()) return notices;
  if (!taints->is_array()) return absl::InvalidArgumentError("'taints' is no array");
  for (const nlohmann::json& each : *taints) {
    const absl::StatusOr<std::string> key = StringIn(each, "key");
    if (!key.ok()) return key.status();
    const Taint* taint = FindTaint(*key);
    if (taint == nullptr || notices.size() >= kMaxNotices) continue;
    Notice notice{.id = *key, .what = absl::StrCat("taint ", *key), .leaves = taint->leaves};
    if (taint->seconds > 0) notice.at = now + taint->seconds;
    notices.push_back(std::move(notice));
  }
  return notices;
}

absl::StatusOr<KubernetesNames> NamesOf(const Machine& machine) {
  KubernetesNames names;
  names.pod_space = machine.Read(std::string(kServiceAccount) + "/namespace");
  names.pod = machine.environment("REKINDLE_KUBERNETES_POD");
  if (names.pod.empty()) names.pod = machine.environment("HOSTNAME");
  names.node = machine.environment("REKINDLE_KUBERNETES_NODE");
  if (names.pod_space.empty()) names.pod.clear();
  for (const std::string* name : {&names.pod_space, &names.pod, &names.node}) {
    if (name->empty() || IsName(*name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("'", Printable(*name, 64), "' is no name of Kubernetes"));
  }
  return names;
}

std::unique_ptr<Source> NewKubernetesSource(std::unique_ptr<common::Http> http, KubernetesNames names,
                                            std::function<std::string()> token) {
  return std::make_unique<KubernetesSource>(std::move(http), std::move(names), std::move(token));
}

extern const SourceKind kKubernetesNotices;
const SourceKind kKubernetesNotices{
    .name = "kubernetes", .interval_seconds = kIntervalSeconds, .detect = Detect, .open = Open};

}  // namespace rekindle::agent
