#include "coordinator/fleet/providers/azure/azure.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/scale_group.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr char kVersion[] = "?api-version=2024-07-01";

// Returns the words by which Azure's errors say that it has no capacity left, or that a quota is used up.
const std::vector<std::string>& Shortages() {
  static const auto* words =
      new std::vector<std::string>{"AllocationFailed", "SkuNotAvailable", "Overconstrained",    "QuotaExceeded",
                                   "Quota limits",     "quota limit",     "OperationNotAllowed"};
  return *words;
}

MachineState StateOf(const std::string& provisioning) {
  if (provisioning == "Creating") return MachineState::kStarting;
  return provisioning == "Deleting" || provisioning == "Failed" ? MachineState::kEnding : MachineState::kRunning;
}

class AzureProvider final : public Provider {
 public:
  AzureProvider(std::string endpoint, std::unique_ptr<common::Http> http, std::map<std::string, AzureScaleSet> sets,
                FetchToken token)
      : endpoint_(std::move(endpoint)), sets_(std::move(sets)), api_(std::move(http), std::move(token)) {}

  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override {
    const absl::StatusOr<Listing> listing = List(pool, seconds);
    if (!listing.ok()) return listing.status();
    const auto end = [&](const std::vector<Machine>& machines) {
      json named = json::array();
      for (const Machine& machine : machines) named.push_back(machine.id);
      return Call("POST", absl::StrCat(PathOf(pool), "/delete", kVersion), {{"instanceIds", named}}).status();
    };
    return EndNamedThenResize(*listing, nodes, release, end, [&] {
      return Call("PATCH", PathOf(pool) + kVersion, {{"sku", {{"capacity", nodes}}}}).status();
    });
  }

  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override {
    const double begun = common::SteadySeconds();
    const auto set = Call("GET", PathOf(pool) + kVersion);
    if (!set.ok()) return set.status();
    const json& capacity = Member(Member(*set, "sku"), "capacity");
    if (!capacity.is_number_unsigned() || capacity.get<uint64_t>() > uint64_t{kMaxMachines}) {
      return absl::InternalError("a scale set without sku.capacity");
    }
    Listing listing{.desired = capacity.get<int>()};
    std::string next = absl::StrCat(PathOf(pool), "/virtualMachines", kVersion);
    for (int page = 0; page < kMaxPages; ++page) {
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) return status;
      const auto machines = Call("GET", next);
      if (!machines.ok()) return machines.status();
      for (const json& each : Member(*machines, "value")) {
        const std::string name = common::StringOr(each, "name");
        listing.machines.push_back({.id = common::StringOr(each, "instanceId"),
                                    .node = name,
                                    .state = StateOf(common::StringOr(Member(each, "properties"), "provisioningState")),
                                    .since = UnixTime(common::StringOr(Member(each, "properties"), "timeCreated"))});
      }
      const std::string link = common::StringOr(*machines, "nextLink");
      if (link.empty()) return listing;
      // A next page on another host is refused, because the token must not be sent to that host.
      absl::string_view rest = link;
      if (!absl::ConsumePrefix(&rest, endpoint_) || !absl::StartsWith(rest, "/")) {
        return absl::InternalError("a next page on another host");
      }
      next = std::string(rest);
    }
    return absl::InternalError(absl::StrCat("virtual machines on more than ", kMaxPages, " pages"));
  }

  absl::StatusOr<std::vector<std::string>> Ended(const std::string& pool, const std::vector<std::string>& nodes,
                                                 double seconds) override {
    const double begun = common::SteadySeconds();
    std::vector<std::string> ended;
    // A node's name is SET_ID, where SET is the name of the scale set and ID is the machine's number in it.
    for (const std::string& node : nodes) {
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) break;
      const std::string id = node.substr(node.rfind('_') + 1);
      const auto machine = Call("GET", absl::StrCat(PathOf(pool), "/virtualMachines/", Escaped(id), kVersion));
      if (absl::IsNotFound(machine.status())) {
        ended.push_back(node);
      } else if (!machine.ok()) {
        return machine.status();
      }
    }
    return ended;
  }

 private:
  std::string PathOf(const std::string& pool) const {
    const AzureScaleSet& set = sets_.at(pool);
    return absl::StrCat("/subscriptions/", set.subscription, "/resourceGroups/", set.resource_group,
                        "/providers/Microsoft.Compute/virtualMachineScaleSets/", set.name);
  }

  absl::StatusOr<json> Call(const std::string& method, const std::string& path, const json& body = nullptr) {
    absl::StatusOr<json> document = api_.Call(method, path, body);
    if (!document.ok() && !RetryAfter(document.status())) return RefineShortage(document.status(), Shortages());
    return document;
  }

  const std::string endpoint_;
  const std::map<std::string, AzureScaleSet> sets_;
  BearerApi api_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> NewAzureProvider(const std::string& endpoint,
                                                           std::map<std::string, AzureScaleSet> sets,
                                                           FetchToken token) {
  const std::string used = endpoint.empty() ? kAzureEndpoint : endpoint;
  auto http = common::OpenHttp(used, {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  return std::make_unique<AzureProvider>(used, *std::move(http), std::move(sets), std::move(token));
}

}  // namespace rekindle::fleet
