#include "worker/agent/notices/kubernetes.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/agent/notices/parse.h"

namespace rekindle::agent {
namespace {

constexpr common::JsonLimits kLimits{.depth = 64, .values = 50'000};
constexpr size_t kMaxName = 253;

struct Taint {
  const char* key;
  double seconds;  // Until the machine goes, as its handler documents; 0: it waits for the pods' deletion.
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
    {"karpenter.sh/disruption", 0, true},  // Before Karpenter 1.0.
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
    for (Notice& notice : *found) {  // Seconds count from when a taint was first seen.
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
  const absl::StatusOr<double> at = ParseTimestamp(*time);  // With the grace: when it will be killed.
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

}  // namespace rekindle::agent
