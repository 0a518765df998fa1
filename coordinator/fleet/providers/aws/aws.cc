#include "coordinator/fleet/providers/aws/aws.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/aws/aws_query.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {
namespace {

constexpr char kVersion[] = "2011-01-01";
constexpr char kEc2Version[] = "2016-11-15";
// A filter in a request to EC2 has at most `kMostFiltered` values, according to AWS's reference.
constexpr size_t kMostFiltered = 200;
constexpr size_t kLongestMessage = 300;

struct Group {
  int desired = 0;
  int min = 0;
  int max = 0;
  std::vector<Machine> machines;

  int Living() const {
    return static_cast<int>(std::count_if(machines.begin(), machines.end(),
                                          [](const Machine& m) { return m.state != MachineState::kEnding; }));
  }
};

absl::StatusOr<int> Number(const Xml& parent, const char* name) {
  int value = 0;
  if (absl::SimpleAtoi(parent[name].text, &value) && value >= 0 && value <= kMaxMachines) return value;
  return absl::InternalError(absl::StrCat("a group whose ", name, " is no number of machines"));
}

MachineState StateOf(const std::string& lifecycle) {
  if (lifecycle == "InService") return MachineState::kRunning;
  return absl::StartsWith(lifecycle, "Pending") ? MachineState::kStarting : MachineState::kEnding;
}

// Returns the error that a failed launch means: RESOURCE_EXHAUSTED for a lack of capacity, or FAILED_PRECONDITION for
// something that somebody has to repair.
absl::Status ShortageOf(const std::string& message) {
  const std::string text = common::Printable(message, kLongestMessage);
  for (const char* word : {"sufficient", "Insufficient", "no Spot capacity", "CountExceeded", "LimitExceeded",
                           "SpotMaxPriceTooLow", "UnfulfillableCapacity", "vCPU"}) {
    if (absl::StrContains(message, word)) return absl::ResourceExhaustedError(text);
  }
  return absl::FailedPreconditionError(text);
}

class AwsProvider final : public Provider {
 public:
  AwsProvider(AwsOptions options, std::unique_ptr<AwsQuery> api, std::unique_ptr<AwsQuery> ec2)
      : options_(std::move(options)), api_(std::move(api)), ec2_(std::move(ec2)) {}

  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override {
    const double begun = common::SteadySeconds();
    const std::string& name = options_.groups.at(pool);
    const absl::StatusOr<Group> group = Describe(name);
    if (!group.ok()) return group.status();
    const int wanted = std::clamp(nodes, group->min, std::max(group->min, group->max));
    int desired = group->desired;
    int living = group->Living();
    for (const Machine& machine : group->machines) {
      const bool named = std::find(release.begin(), release.end(), machine.node) != release.end();
      if (!named || machine.state == MachineState::kEnding || living <= wanted || desired <= wanted) continue;
      if (absl::Status status = CheckTime(begun, seconds); !status.ok()) return status;
      const auto ended = Call("TerminateInstanceInAutoScalingGroup",
                              {{"InstanceId", machine.id}, {"ShouldDecrementDesiredCapacity", "true"}});
      if (!ended.ok() && !absl::IsNotFound(ended.status())) return ended.status();
      --living;
      --desired;
    }
    if (desired != wanted) {
      const auto set =
          Call("SetDesiredCapacity",
               {{"AutoScalingGroupName", name}, {"DesiredCapacity", absl::StrCat(wanted)}, {"HonorCooldown", "false"}});
      if (!set.ok()) return set.status();
    }
    if (wanted < nodes) {
      return absl::ResourceExhaustedError(absl::StrCat("group ", name, " has at most ", wanted, " instances, and ",
                                                       nodes, " are wanted: raise its maximum, or lower the pool's"));
    }
    if (wanted == nodes) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("group ", name, " keeps at least ", wanted,
                                                      " instances: set its minimum to 0, and keep some by the pool's"));
  }

  absl::StatusOr<Listing> List(const std::string& pool, double) override {
    const std::string& name = options_.groups.at(pool);
    absl::StatusOr<Group> group = Describe(name);
    if (!group.ok()) return group.status();
    Listing listing{.desired = group->desired};
    if (group->Living() < group->desired) {
      absl::StatusOr<absl::Status> shortage = LastLaunch(name);
      if (!shortage.ok()) return shortage.status();
      listing.shortage = *shortage;
    }
    listing.machines = std::move(group->machines);
    TellLaunches(pool, listing.machines);
    return listing;
  }

  // Returns the nodes whose instances EC2 lists as ended, which it does for about an hour after the end. An instance
  // that was only detached from its group runs on, so it has not ended.
  absl::StatusOr<std::vector<std::string>> Ended(const std::string&, const std::vector<std::string>& nodes,
                                                 double) override {
    AwsQuery::Parameters parameters = {{"Filter.1.Name", "instance-id"},
                                       {"Filter.2.Name", "instance-state-name"},
                                       {"Filter.2.Value.1", "terminated"},
                                       {"Filter.2.Value.2", "stopped"}};
    for (size_t i = 0; i < std::min(nodes.size(), kMostFiltered); ++i) {
      parameters[absl::StrCat("Filter.1.Value.", i + 1)] = nodes[i];
    }
    const absl::StatusOr<Xml> answer = ec2_->Call("DescribeInstances", parameters);
    if (!answer.ok()) return answer.status();
    std::vector<std::string> ended;
    for (const Xml& reservation : (*answer)["reservationSet"].children) {
      for (const Xml& instance : reservation["instancesSet"].children) {
        const std::string& state = instance["instanceState"]["name"].text;
        if (state == "terminated" || state == "stopped") ended.push_back(instance["instanceId"].text);
      }
    }
    return ended;
  }

 private:
  // Calls an action of Auto Scaling, and returns the part of the answer that holds the result.
  absl::StatusOr<Xml> Call(const std::string& action, const AwsQuery::Parameters& parameters) {
    absl::StatusOr<Xml> answer = api_->Call(action, parameters);
    if (!answer.ok()) return answer;
    return (*answer)[action + "Result"];
  }

  absl::StatusOr<Group> Describe(const std::string& name) {
    const absl::StatusOr<Xml> result = Call("DescribeAutoScalingGroups", {{"AutoScalingGroupNames.member.1", name}});
    if (!result.ok()) return result.status();
    for (const Xml& member : (*result)["AutoScalingGroups"].children) {
      if (member["AutoScalingGroupName"].text == name) return ToGroup(member);
    }
    return absl::NotFoundError(absl::StrCat("no Auto Scaling group '", name, "' in ", options_.region,
                                            ": create it, or correct machines.group"));
  }

  static absl::StatusOr<Group> ToGroup(const Xml& member) {
    const absl::StatusOr<int> desired = Number(member, "DesiredCapacity");
    const absl::StatusOr<int> min = Number(member, "MinSize");
    const absl::StatusOr<int> max = Number(member, "MaxSize");
    for (const auto* each : {&desired, &min, &max}) {
      if (!each->ok()) return each->status();
    }
    Group group{.desired = *desired, .min = *min, .max = *max, .machines = {}};
    for (const Xml& instance : member["Instances"].children) {
      const std::string& id = instance["InstanceId"].text;
      group.machines.push_back({.id = id, .node = id, .state = StateOf(instance["LifecycleState"].text)});
    }
    return group;
  }

  // Auto Scaling does not say since when an instance runs, so EC2 is asked once about each instance. The age of an
  // instance that EC2 does not list stays unknown.
  void TellLaunches(const std::string& pool, std::vector<Machine>& machines) {
    const std::map<std::string, double> before = std::exchange(launched_[pool], {});
    std::map<std::string, double>& launched = launched_[pool];
    std::vector<std::string> unknown;
    for (const Machine& machine : machines) {
      if (machine.state != MachineState::kRunning) continue;
      const auto known = before.find(machine.id);
      const bool asks = known == before.end() && unknown.size() < kMostFiltered;
      if (asks) unknown.push_back(machine.id);
      if (asks || known != before.end()) launched[machine.id] = asks ? 0 : known->second;
    }
    if (!unknown.empty()) AskLaunches(unknown, launched);
    for (Machine& machine : machines) {
      const auto known = launched.find(machine.id);
      if (known != launched.end()) machine.since = known->second;
    }
  }

  void AskLaunches(const std::vector<std::string>& ids, std::map<std::string, double>& launched) {
    AwsQuery::Parameters parameters = {{"Filter.1.Name", "instance-id"}};
    for (size_t i = 0; i < ids.size(); ++i) parameters[absl::StrCat("Filter.1.Value.", i + 1)] = ids[i];
    const absl::StatusOr<Xml> answer = ec2_->Call("DescribeInstances", parameters);
    if (!answer.ok()) return;
    for (const Xml& reservation : (*answer)["reservationSet"].children) {
      for (const Xml& instance : reservation["instancesSet"].children) {
        const auto asked = launched.find(instance["instanceId"].text);
        if (asked != launched.end()) asked->second = UnixTime(instance["launchTime"].text);
      }
    }
  }

  // Returns why the newest launch of an instance failed, or OK where it did not fail.
  absl::StatusOr<absl::Status> LastLaunch(const std::string& name) {
    const auto result = Call("DescribeScalingActivities", {{"AutoScalingGroupName", name}, {"MaxRecords", "20"}});
    if (!result.ok()) return result.status();
    for (const Xml& activity : (*result)["Activities"].children) {
      if (!absl::StartsWith(activity["Description"].text, "Launching")) continue;
      if (activity["StatusCode"].text != "Failed") return absl::OkStatus();
      return ShortageOf(activity["StatusMessage"].text);
    }
    return absl::OkStatus();
  }

  const AwsOptions options_;
  // `api_` calls Auto Scaling.
  const std::unique_ptr<AwsQuery> api_;
  const std::unique_ptr<AwsQuery> ec2_;
  // `launched_` maps the name of a pool and then the id of an instance to the time when the instance was launched. 0
  // means that the time is not known.
  std::map<std::string, std::map<std::string, double>> launched_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> NewAwsProvider(AwsOptions options, Variables variables) {
  auto api = AwsQuery::Open(
      {.service = "autoscaling", .version = kVersion, .region = options.region, .endpoint = options.endpoint},
      variables);
  if (!api.ok()) return api.status();
  auto ec2 =
      AwsQuery::Open({.service = "ec2", .version = kEc2Version, .region = options.region, .endpoint = options.endpoint},
                     std::move(variables));
  if (!ec2.ok()) return ec2.status();
  return std::make_unique<AwsProvider>(std::move(options), *std::move(api), *std::move(ec2));
}

}  // namespace rekindle::fleet
