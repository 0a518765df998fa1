#include "coordinator/fleet/providers/gcp/gcp.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/scale_group.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr int kPage = 500;
// For each listing, Compute Engine is asked for the start times of at most `kMostAsked` instances.
constexpr int kMostAsked = 20;

// Returns the words by which Compute Engine's errors say that it has no capacity left, or that a quota is used up.
const std::vector<std::string>& Shortages() {
  static const auto* words = new std::vector<std::string>{"RESOURCE_POOL_EXHAUSTED", "STOCKOUT", "QUOTA_EXCEEDED",
                                                          "quotaExceeded", "does not have enough resources"};
  return *words;
}

MachineState StateOf(const std::string& action, const std::string& status) {
  if (action == "DELETING" || action == "ABANDONING" || action == "STOPPING" || action == "SUSPENDING" ||
      status == "STOPPING" || status == "STOPPED" || status == "TERMINATED") {
    return MachineState::kEnding;
  }
  return status == "RUNNING" ? MachineState::kRunning : MachineState::kStarting;
}

// Returns why the last attempt to create an instance failed, or OK where it did not fail.
absl::Status LastAttempt(const json& instance) {
  const json& errors = Member(Member(Member(instance, "lastAttempt"), "errors"), "errors");
  if (!errors.is_array() || errors.empty()) return absl::OkStatus();
  const std::string text =
      absl::StrCat(common::StringOr(errors.front(), "code"), ": ", common::StringOr(errors.front(), "message"));
  return RefineShortage(absl::FailedPreconditionError(common::Printable(text, 300)), Shortages());
}

class GcpProvider final : public Provider {
 public:
  GcpProvider(std::unique_ptr<common::Http> http, std::map<std::string, GcpGroup> groups, FetchToken token)
      : groups_(std::move(groups)), api_(std::move(http), std::move(token)) {}

  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override {
    const absl::StatusOr<Listing> listing = List(pool, seconds);
    if (!listing.ok()) return listing.status();
    const auto end = [&](const std::vector<Machine>& machines) {
      json named = json::array();
      for (const Machine& machine : machines) {
        named.push_back(absl::StrCat("zones/", groups_.at(pool).zone, "/instances/", machine.node));
      }
      return Call("POST", PathOf(pool) + "/deleteInstances",
                  {{"instances", named}, {"skipInstancesOnValidationError", true}})
          .status();
    };
    return EndNamedThenResize(*listing, nodes, release, end, [&] {
      return Call("POST", absl::StrCat(PathOf(pool), "/resize?size=", nodes), json::object()).status();
    });
  }

  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override {
    const double begun = common::SteadySeconds();
    const auto group = Call("GET", PathOf(pool));
    if (!group.ok()) return group.status();
    const auto size = group->find("targetSize");
    if (size == group->end() || !size->is_number_unsigned() || size->get<uint64_t>() > uint64_t{kMaxMachines}) {
      return absl::InternalError("a managed instance group without a targetSize");
    }
    Listing listing{.desired = size->get<int>()};
    std::string next;
    for (int page = 0; page < kMaxPages; ++page) {
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) return status;
      const auto instances = Call("POST",
                                  absl::StrCat(PathOf(pool), "/listManagedInstances?maxResults=", kPage,
                                               next.empty() ? "" : absl::StrCat("&pageToken=", Escaped(next))),
                                  json::object());
      if (!instances.ok()) return instances.status();
      for (const json& each : Member(*instances, "managedInstances")) Add(each, &listing);
      next = common::StringOr(*instances, "nextPageToken");
      if (!next.empty()) continue;
      TellStarts(pool, begun, seconds, listing.machines);
      return listing;
    }
    return absl::InternalError(absl::StrCat("instances on more than ", kMaxPages, " pages"));
  }

  absl::StatusOr<std::vector<std::string>> Ended(const std::string& pool, const std::vector<std::string>& nodes,
                                                 double seconds) override {
    const double begun = common::SteadySeconds();
    std::vector<std::string> ended;
    for (const std::string& node : nodes) {
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) break;
      const auto instance = Instance(pool, node);
      const bool gone = absl::IsNotFound(instance.status());
      if (!gone && !instance.ok()) return instance.status();
      // An instance that is TERMINATED is stopped. It would have to boot to run again, so it counts as ended.
      if (gone || common::StringOr(*instance, "status") == "TERMINATED") ended.push_back(node);
    }
    return ended;
  }

 private:
  std::string PathOf(const std::string& pool) const {
    const GcpGroup& group = groups_.at(pool);
    return absl::StrCat("/compute/v1/projects/", group.project, "/zones/", group.zone, "/instanceGroupManagers/",
                        group.name);
  }

  absl::StatusOr<json> Call(const std::string& method, const std::string& path, const json& body = nullptr) {
    absl::StatusOr<json> document = api_.Call(method, path, body);
    if (document.ok() && document->is_object()) return document;
    if (document.ok()) return absl::InternalError("Compute Engine sent no object");
    const absl::Status status = RefineGcpLimit(document.status());
    return RetryAfter(status) ? status : RefineShortage(status, Shortages());
  }

  absl::StatusOr<json> Instance(const std::string& pool, const std::string& name) {
    const GcpGroup& group = groups_.at(pool);
    return Call("GET", absl::StrCat("/compute/v1/projects/", group.project, "/zones/", group.zone, "/instances/",
                                    Escaped(name)));
  }

  // The instance group does not say since when an instance runs, so Compute Engine is asked once about each instance,
  // some at a time. The age of an instance for which it does not answer stays unknown.
  void TellStarts(const std::string& pool, double begun, double seconds, std::vector<Machine>& machines) {
    const std::map<std::string, double> before = std::exchange(started_[pool], {});
    std::map<std::string, double>& started = started_[pool];
    int asked = 0;
    for (Machine& machine : machines) {
      if (machine.state != MachineState::kRunning) continue;
      const auto known = before.find(machine.id);
      if (known != before.end()) {
        machine.since = started[machine.id] = known->second;
      } else if (asked++ < kMostAsked && CheckTime(begun, seconds).ok()) {
        const absl::StatusOr<json> instance = Instance(pool, machine.id);
        machine.since = started[machine.id] =
            instance.ok() ? UnixTime(common::StringOr(*instance, "lastStartTimestamp")) : 0;
      }
    }
  }

  static void Add(const json& each, Listing* listing) {
    const std::string name = LastPart(common::StringOr(each, "instance"));
    if (name.empty()) return;
    listing->machines.push_back(
        {.id = name,
         .node = name,
         .state = StateOf(common::StringOr(each, "currentAction"), common::StringOr(each, "instanceStatus"))});
    if (listing->shortage.ok()) listing->shortage = LastAttempt(each);
  }

  const std::map<std::string, GcpGroup> groups_;
  BearerApi api_;
  // `started_` maps the name of a pool and then the name of an instance to the time when the instance started. 0 means
  // that the time is not known.
  std::map<std::string, std::map<std::string, double>> started_;
};

}  // namespace

absl::Status RefineGcpLimit(const absl::Status& status) {
  if (!absl::StrContains(status.message(), "rateLimitExceeded")) return status;
  return Throttled(std::string(status.message()), RetryAfter(status).value_or(0));
}

absl::StatusOr<std::unique_ptr<Provider>> NewGcpProvider(const std::string& endpoint,
                                                         std::map<std::string, GcpGroup> groups, FetchToken token) {
  auto http = common::OpenHttp(endpoint.empty() ? kGcpEndpoint : endpoint,
                               {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  return std::make_unique<GcpProvider>(*std::move(http), std::move(groups), std::move(token));
}

}  // namespace rekindle::fleet
