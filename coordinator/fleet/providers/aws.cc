#include "coordinator/fleet/providers/aws.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/printable.h"
#include "coordinator/fleet/providers/aws_credentials.h"
#include "coordinator/fleet/providers/xml.h"

namespace rekindle::fleet {
namespace {

constexpr char kVersion[] = "2011-01-01";
constexpr size_t kLongestMessage = 300;

using Parameters = std::map<std::string, std::string>;

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

bool IsOneOf(const std::string& code, std::initializer_list<const char*> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](const char* each) { return code == each; });
}

// <ErrorResponse><Error><Code>, or with a list <Errors> around it.
absl::Status ToStatus(const std::string& what, const common::HttpAnswer& answer) {
  const absl::StatusOr<Xml> document = ParseXml(answer.body);
  if (!document.ok()) return ErrorOf(what, answer, "");
  const Xml& error = (*document)["Error"].name.empty() ? (*document)["Errors"]["Error"] : (*document)["Error"];
  const std::string& code = error["Code"].text;
  const std::string text = absl::StrCat(what, ": ", common::Printable(code, 64), ": ",
                                        common::Printable(error["Message"].text, kLongestMessage));
  if (IsOneOf(code, {"Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestThrottled", "SlowDown",
                     "ScalingActivityInProgress", "ResourceContention"})) {
    return Throttled(text, RetryAfterOf(answer, common::WallSeconds()));
  }
  if (IsOneOf(code, {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "OptInRequired"})) {
    return absl::PermissionDeniedError(text);
  }
  if (IsOneOf(code, {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId",
                     "SignatureDoesNotMatch", "UnrecognizedClientException", "MissingAuthenticationToken"})) {
    return absl::UnauthenticatedError(text);
  }
  if (code == "LimitExceeded") return absl::ResourceExhaustedError(text);
  if (code == "ValidationError" && absl::StrContains(error["Message"].text, "not found")) {
    return absl::NotFoundError(text);
  }
  return ErrorOf(what, answer, absl::StrCat(code, ": ", error["Message"].text));
}

absl::StatusOr<int> Number(const Xml& parent, const char* name) {
  int value = 0;
  if (absl::SimpleAtoi(parent[name].text, &value) && value >= 0 && value <= kMaxMachines) return value;
  return absl::InternalError(absl::StrCat("a group whose ", name, " is no number of machines"));
}

MachineState StateOf(const std::string& lifecycle) {
  if (lifecycle == "InService") return MachineState::kRunning;
  return absl::StartsWith(lifecycle, "Pending") ? MachineState::kStarting : MachineState::kEnding;
}

// What a failed launch says is a want of capacity, or something that somebody must mend.
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
  AwsProvider(AwsOptions options, std::string host, std::unique_ptr<common::Http> http, Variables variables)
      : options_(std::move(options)),
        host_(std::move(host)),
        http_(std::move(http)),
        credentials_(std::move(variables)) {}

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
    return listing;
  }

 private:
  // The result of an action. Credentials that have expired meanwhile are fetched once more.
  absl::StatusOr<Xml> Call(const std::string& action, const Parameters& parameters) {
    absl::StatusOr<Xml> result = CallOnce(action, parameters);
    if (!absl::IsUnauthenticated(result.status())) return result;
    credentials_.Forget();
    return CallOnce(action, parameters);
  }

  absl::StatusOr<Xml> CallOnce(const std::string& action, const Parameters& parameters) {
    const double now = common::WallSeconds();
    const absl::StatusOr<AwsKeys> keys = credentials_.Get(now);
    if (!keys.ok()) return keys.status();
    common::HttpRequest request{
        .method = "POST",
        .path = "/",
        .headers = {{"Host", host_}, {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
        .body = absl::StrCat("Action=", action, "&Version=", kVersion)};
    for (const auto& [name, value] : parameters) {
      absl::StrAppend(&request.body, "&", Escaped(name), "=", Escaped(value));
    }
    SignAws(*keys, options_.region, "autoscaling", now, request);
    const absl::StatusOr<common::HttpAnswer> answer = http_->Send(request);
    if (!answer.ok()) {
      return absl::Status(answer.status().code(), absl::StrCat(action, ": ", std::string(answer.status().message())));
    }
    if (answer->status != 200) return ToStatus(action, *answer);
    absl::StatusOr<Xml> document = ParseXml(answer->body);
    if (!document.ok())
      return absl::InternalError(absl::StrCat(action, ": ", std::string(document.status().message())));
    return (*document)[action + "Result"];
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

  // Why the newest launch failed; OK where it did not.
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
  const std::string host_;
  const std::unique_ptr<common::Http> http_;
  AwsCredentials credentials_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> NewAwsProvider(AwsOptions options, Variables variables) {
  if (options.endpoint.empty()) {
    options.endpoint = absl::StrCat("https://autoscaling.", options.region, ".amazonaws.com",
                                    absl::StartsWith(options.region, "cn-") ? ".cn" : "");
  }
  auto http = common::OpenHttp(options.endpoint,
                               {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  std::string host = options.endpoint.substr(options.endpoint.find("://") + 3);
  return std::make_unique<AwsProvider>(std::move(options), std::move(host), *std::move(http), std::move(variables));
}

}  // namespace rekindle::fleet
