#include "coordinator/fleet/providers/kubernetes/kubernetes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr int kPage = 500;

int NumberOr(const json& value, int otherwise) {
  if (!value.is_number_integer()) return otherwise;
  const int64_t number = value.get<int64_t>();
  return number >= 0 && number <= kMaxMachines ? static_cast<int>(number) : otherwise;
}

// Returns the ordinal in the name of a pod: 3 for "worker-3", and -1 for a name without an ordinal.
int OrdinalOf(const std::string& pod) {
  int ordinal = -1;
  return absl::SimpleAtoi(pod.substr(pod.rfind('-') + 1), &ordinal) ? ordinal : -1;
}

struct Set {
  int replicas = 0;
  // `first` is the ordinal of the StatefulSet's first pod.
  int first = 0;
  std::string selector;
};

absl::StatusOr<Set> ToSet(const json& document) {
  const json& spec = Member(document, "spec");
  Set set{.replicas = NumberOr(Member(spec, "replicas"), 1),
          .first = NumberOr(Member(Member(spec, "ordinals"), "start"), 0),
          .selector = ""};
  for (const auto& [key, value] : Member(Member(spec, "selector"), "matchLabels").items()) {
    if (!value.is_string()) continue;
    absl::StrAppend(&set.selector, set.selector.empty() ? "" : ",", key, "=", value.get<std::string>());
  }
  if (set.selector.empty()) return absl::InternalError("a StatefulSet without spec.selector.matchLabels");
  return set;
}

bool OwnedBy(const json& metadata, const std::string& set) {
  for (const json& owner : Member(metadata, "ownerReferences")) {
    if (common::StringOr(owner, "kind") == "StatefulSet" && common::StringOr(owner, "name") == set) return true;
  }
  return false;
}

MachineState StateOf(const json& pod) {
  if (Member(pod, "metadata").contains("deletionTimestamp")) return MachineState::kEnding;
  const std::string phase = common::StringOr(Member(pod, "status"), "phase");
  if (phase == "Pending" || phase.empty()) return MachineState::kStarting;
  return phase == "Running" ? MachineState::kRunning : MachineState::kEnding;
}

// Returns why a pod is not scheduled on a machine yet, or an empty text.
std::string WaitingFor(const json& pod) {
  for (const json& condition : Member(Member(pod, "status"), "conditions")) {
    if (common::StringOr(condition, "type") != "PodScheduled" || common::StringOr(condition, "status") != "False") {
      continue;
    }
    return absl::StrCat(common::StringOr(Member(pod, "metadata"), "name"), " ", common::StringOr(condition, "reason"),
                        ": ", common::StringOr(condition, "message"));
  }
  return "";
}

class KubernetesProvider final : public Provider {
 public:
  KubernetesProvider(std::unique_ptr<common::Http> http, KubernetesAccess access,
                     std::map<std::string, KubernetesSet> sets)
      : access_(std::move(access)), sets_(std::move(sets)), api_(std::move(http), access_.token) {}

  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override {
    if (!release.empty()) {
      if (absl::Status status = TellOfOthers(pool, nodes, release, seconds); !status.ok()) return status;
    }
    return api_
        .Call("PATCH", PathOf(pool) + "/scale", {{"spec", {{"replicas", nodes}}}}, "application/merge-patch+json")
        .status();
  }

  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override {
    const double begun = common::SteadySeconds();
    const absl::StatusOr<Set> set = Get(pool);
    if (!set.ok()) return set.status();
    Listing listing{.desired = set->replicas};
    std::string next;
    for (int page = 0; page < kMaxPages; ++page) {
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) return status;
      const auto pods = api_.Call(
          "GET", absl::StrCat("/api/v1/namespaces/", SpaceOf(pool), "/pods?labelSelector=", Escaped(set->selector),
                              "&limit=", kPage, next.empty() ? "" : absl::StrCat("&continue=", Escaped(next))));
      if (!pods.ok()) return pods.status();
      for (const json& pod : Member(*pods, "items")) Add(pod, sets_.at(pool).name, &listing);
      next = common::StringOr(Member(*pods, "metadata"), "continue");
      if (next.empty()) return listing;
    }
    return absl::InternalError(absl::StrCat("pods on more than ", kMaxPages, " pages"));
  }

  // Returns all of `nodes`, because nothing runs on a node that is not listed any more. A pod is listed until the
  // kubelet has ended its containers, or until its machine was taken out of the cluster. Whoever removes a pod by force
  // states that it does not run any more.
  absl::StatusOr<std::vector<std::string>> Ended(const std::string&, const std::vector<std::string>& nodes,
                                                 double) override {
    return nodes;
  }

  bool ChoosesWhatEnds() const override { return false; }

 private:
  std::string SpaceOf(const std::string& pool) const {
    const std::string& space = sets_.at(pool).name_space;
    return space.empty() ? access_.name_space : space;
  }
  std::string PathOf(const std::string& pool) const {
    return absl::StrCat("/apis/apps/v1/namespaces/", SpaceOf(pool), "/statefulsets/", sets_.at(pool).name);
  }

  absl::StatusOr<Set> Get(const std::string& pool) {
    const auto document = api_.Call("GET", PathOf(pool));
    if (!document.ok()) return document.status();
    return ToSet(*document);
  }

  static void Add(const json& pod, const std::string& set, Listing* listing) {
    const json& metadata = Member(pod, "metadata");
    const std::string name = common::StringOr(metadata, "name");
    if (name.empty() || !OwnedBy(metadata, set)) return;
    listing->machines.push_back({.id = name,
                                 .node = common::StringOr(Member(pod, "spec"), "nodeName"),
                                 .state = StateOf(pod),
                                 .since = UnixTime(common::StringOr(Member(pod, "status"), "startTime"))});
    if (listing->waiting.empty()) listing->waiting = WaitingFor(pod);
  }

  // Logs which of the released nodes stay because a StatefulSet ends other pods first.
  absl::Status TellOfOthers(const std::string& pool, int nodes, const std::vector<std::string>& release,
                            double seconds) {
    const absl::StatusOr<Set> set = Get(pool);
    if (!set.ok()) return set.status();
    const absl::StatusOr<Listing> listing = List(pool, seconds);
    if (!listing.ok()) return listing.status();
    for (const Machine& machine : listing->machines) {
      const bool named = std::find(release.begin(), release.end(), machine.node) != release.end();
      const int ordinal = OrdinalOf(machine.id);
      if (!named || machine.state == MachineState::kEnding || ordinal < 0 || ordinal >= set->first + nodes) continue;
      log::Warning("a StatefulSet ends its last pods first: others go instead of this one",
                   {{"pool", pool}, {"node", machine.node}, {"pod", machine.id}});
    }
    return absl::OkStatus();
  }

  const KubernetesAccess access_;
  const std::map<std::string, KubernetesSet> sets_;
  BearerApi api_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> NewKubernetesProvider(KubernetesAccess access,
                                                                std::map<std::string, KubernetesSet> sets) {
  auto http = common::OpenHttp(access.endpoint, {.seconds = kApiSeconds,
                                                 .max_body = kMaxAnswer,
                                                 .reach = common::Reach::kSecure,
                                                 .ca_file = access.ca_file,
                                                 .cert_file = access.cert_file,
                                                 .key_file = access.key_file});
  if (!http.ok()) return http.status();
  return std::make_unique<KubernetesProvider>(*std::move(http), std::move(access), std::move(sets));
}

}  // namespace rekindle::fleet
