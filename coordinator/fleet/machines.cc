#include "coordinator/fleet/machines.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/http.h"
#include "coordinator/fleet/field_check.h"

namespace rekindle::fleet {
namespace {

constexpr double kStartSeconds = 300;
constexpr double kPollSeconds = 30;
constexpr double kLocalPollSeconds = 2;
constexpr double kDay = 86400;
constexpr double kStepSeconds = 60;
constexpr int kMaxNodes = 100'000;
constexpr size_t kLongestName = 255;

struct Fields {
  std::vector<std::string> needs;
  std::vector<std::string> has;
};
const std::map<std::string, Fields>& FieldsOf() {
  static const auto* fields = new std::map<std::string, Fields>{
      {"aws", {{"group"}, {"endpoint", "price_endpoint"}}},
      {"gcp", {{"group", "project"}, {"endpoint", "price_endpoint"}}},
      {"azure", {{"group", "subscription", "resource_group"}, {"endpoint", "price_endpoint"}}},
      {"kubernetes", {{"group"}, {"endpoint", "namespace", "kubeconfig"}}},
      {"exec", {{"command"}, {}}},
      {"local", {{}, {"boot_seconds", "market"}}},
  };
  return *fields;
}

bool Lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Each field that is given belongs to the provider, each that it needs is given.
absl::Status CheckFields(const std::string& path, const std::string& provider, const v1::Fleet::Machines& machines) {
  const Fields& fields = FieldsOf().at(provider);
  std::vector<const google::protobuf::FieldDescriptor*> given;
  machines.GetReflection()->ListFields(machines, &given);
  std::vector<std::string> names;
  for (const auto* field : given) {
    names.push_back(field->name());
    if (Lists(fields.needs, field->name()) || Lists(fields.has, field->name())) continue;
    if (field->name() == "start_seconds" || field->name() == "poll_seconds") continue;
    return Wrong(absl::StrCat(path, ".", field->name()), absl::StrCat("is not for provider ", provider, ": remove it"));
  }
  for (const std::string& need : fields.needs) {
    if (!Lists(names, need)) {
      return Wrong(absl::StrCat(path, ".", need), absl::StrCat("is missing: provider ", provider, " needs it"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMachineEndpoint(const std::string& field, const std::string& endpoint) {
  if (endpoint.empty()) return absl::OkStatus();
  const absl::Status fit = common::CheckEndpoint(endpoint, {.reach = common::Reach::kSecure});
  return fit.ok() ? fit : Wrong(field, std::string(fit.message()));
}

}  // namespace

absl::Status CheckName(const std::string& field, const std::string& name) {
  const bool fit = name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                     return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
                   });
  if (fit && name != "." && name != "..") return absl::OkStatus();
  return Wrong(field, "must be letters, digits, '-', '_' and '.', at most 255");
}

namespace {

absl::Status CheckNames(const std::string& path, const v1::Fleet::Pool& pool) {
  const v1::Fleet::Machines& machines = pool.machines();
  const std::string in = path + ".machines.";
  for (const absl::Status& s :
       {CheckName(in + "group", machines.group()), CheckName(in + "project", machines.project()),
        CheckName(in + "subscription", machines.subscription()),
        CheckName(in + "resource_group", machines.resource_group()), CheckName(in + "namespace", machines.namespace_()),
        // Of a cloud they are a part of addresses; elsewhere they are only shown.
        pool.provider() == "aws" ? CheckName(path + ".region", pool.region()) : absl::OkStatus(),
        pool.provider() == "gcp" ? CheckName(path + ".zone", pool.zone()) : absl::OkStatus()}) {
    if (!s.ok()) return s;
  }
  if (pool.provider() == "aws" && pool.region().empty()) {
    return Wrong(path + ".region", "is missing: the group is looked for there");
  }
  return absl::OkStatus();
}

absl::Status ResolveMarket(const std::string& path, int max, v1::Fleet::Machines& machines) {
  v1::Fleet::Market& market = *machines.mutable_market();
  if (market.has_nodes() && !market.trace().empty()) {
    return Wrong(path + ".market.nodes", "is given beside trace: remove one");
  }
  if (!market.has_nodes() && market.trace().empty()) market.set_nodes(max);
  if (market.step_seconds() == 0) market.set_step_seconds(kStepSeconds);
  if (market.speed() == 0) market.set_speed(1);
  for (const absl::Status& s : {Range(path + ".boot_seconds", machines.boot_seconds(), 0, kDay),
                                Range(path + ".market.nodes", market.nodes(), 0, kMaxNodes),
                                Range(path + ".market.step_seconds", market.step_seconds(), 0.001, kDay),
                                Range(path + ".market.speed", market.speed(), 0.001, 100'000),
                                Range(path + ".market.notice_seconds", market.notice_seconds(), 0, kDay)}) {
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveMachines(const std::string& path, v1::Fleet::Pool& pool) {
  if (!pool.has_machines()) {
    if (pool.min() == 0) return absl::OkStatus();
    return Wrong(path + ".min",
                 "the coordinator keeps nodes only where it gets machines: add `machines`, or remove it");
  }
  const std::string in = path + ".machines";
  v1::Fleet::Machines& machines = *pool.mutable_machines();
  if (absl::Status s = CheckFields(in, pool.provider(), machines); !s.ok()) return s;
  if (absl::Status s = CheckNames(path, pool); !s.ok()) return s;
  for (const absl::Status& s : {CheckMachineEndpoint(in + ".endpoint", machines.endpoint()),
                                CheckMachineEndpoint(in + ".price_endpoint", machines.price_endpoint())}) {
    if (!s.ok()) return s;
  }
  if (pool.provider() == "exec" && machines.command(0).substr(0, 1) != "/") {
    return Wrong(in + ".command", absl::StrCat("'", machines.command(0), "' must be an absolute path"));
  }
  if (pool.provider() == "local") {
    if (absl::Status s = ResolveMarket(in, pool.max(), machines); !s.ok()) return s;
  }
  if (machines.start_seconds() == 0) machines.set_start_seconds(kStartSeconds);
  if (machines.poll_seconds() == 0) {
    machines.set_poll_seconds(pool.provider() == "local" ? kLocalPollSeconds : kPollSeconds);
  }
  if (absl::Status s = Range(in + ".start_seconds", machines.start_seconds(), 0, kDay); !s.ok()) return s;
  return Range(in + ".poll_seconds", machines.poll_seconds(), 0.1, 3600);
}

std::string MachineGroup(const v1::Fleet::Pool& pool) {
  const v1::Fleet::Machines& machines = pool.machines();
  if (machines.group().empty()) return "";
  return absl::StrJoin(
      {pool.provider(), pool.provider() == "aws" ? pool.region() : "", pool.provider() == "gcp" ? pool.zone() : "",
       machines.endpoint(), machines.kubeconfig(), machines.project(), machines.subscription(),
       machines.resource_group(), machines.namespace_(), machines.group()},
      " ");
}

}  // namespace rekindle::fleet
