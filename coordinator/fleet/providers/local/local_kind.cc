#include "coordinator/fleet/providers/local/local_kind.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/memory/memory_limit.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/local/local.h"
#include "coordinator/fleet/simulator/csv.h"
#include "coordinator/fleet/simulator/trace.h"

namespace rekindle::fleet {
namespace {

using Form = MachineField::Form;
using Pool = v1::Fleet::Pool;

constexpr int kMax = 8;
constexpr double kPollSeconds = 2;
constexpr double kDay = 86400;
constexpr double kStepSeconds = 60;
constexpr int kMaxNodes = 100'000;

constexpr MachineField kFields[] = {{"boot_seconds", Form::kOther}, {"market", Form::kOther}};

absl::Status Resolve(const std::string& pool_path, Pool& pool) {
  const std::string path = pool_path + ".machines";
  v1::Fleet::Machines& machines = *pool.mutable_machines();
  v1::Fleet::Market& market = *machines.mutable_market();
  if (market.has_nodes() && !market.trace().empty()) {
    return common::WrongField(path + ".market.nodes", "is given beside trace: remove one");
  }
  if (!market.has_nodes() && market.trace().empty()) market.set_nodes(pool.max());
  if (market.step_seconds() == 0) market.set_step_seconds(kStepSeconds);
  if (market.speed() == 0) market.set_speed(1);
  for (const absl::Status& s :
       {common::CheckRange(path + ".boot_seconds", machines.boot_seconds(), 0, kDay),
        common::CheckRange(path + ".market.nodes", market.nodes(), 0, kMaxNodes),
        common::CheckRange(path + ".market.step_seconds", market.step_seconds(), 0.001, kDay),
        common::CheckRange(path + ".market.speed", market.speed(), 0.001, 100'000),
        common::CheckRange(path + ".market.notice_seconds", market.notice_seconds(), 0, kDay)}) {
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// All pools of local machines have one account, because a coordinator has one LocalProvider.
std::string Account(const Pool&) { return ""; }

absl::Status WrongTrace(const Pool& pool, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("pool ", pool.name(), ": machines.market.trace: ", why));
}

absl::StatusOr<std::vector<int>> ReadTrace(const Pool& pool, const ProviderOptions& options) {
  const v1::Fleet::Market& market = pool.machines().market();
  const auto text = common::ReadFile(*common::PosixFileSystem(), OpenablePath(market.trace(), options), kMaxCsvBytes);
  if (!text.ok()) return WrongTrace(pool, std::string(text.status().message()));
  const auto trace = ParseTrace(*text, market.trace(), {.step_seconds = market.step_seconds()});
  if (!trace.ok()) return WrongTrace(pool, std::string(trace.status().message()));
  // If a trace file has no columns for zones, ParseTrace gives its only series the name of the file.
  const std::string stem = std::filesystem::path(market.trace()).stem().string();
  for (const ZoneTrace& zone : trace->zones) {
    if ((zone.zone == pool.zone() || zone.zone == stem) && !zone.nodes.empty()) return zone.nodes;
  }
  return WrongTrace(pool, absl::StrCat(market.trace(), " has no column ", pool.zone(), ", the pool's zone"));
}

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions& options) {
  LocalOptions local{.folder = options.data, .endpoint_file = options.endpoint_file};
  int most = 0;
  for (const Pool& pool : pools) {
    const v1::Fleet::Market& market = pool.machines().market();
    LocalPoolOptions each{.pool = pool.name(),
                          .boot_seconds = pool.machines().boot_seconds(),
                          .nodes = market.nodes(),
                          .notice_seconds = market.notice_seconds(),
                          .trace = {.nodes = {}, .step_seconds = market.step_seconds() / market.speed()}};
    if (!market.trace().empty()) {
      absl::StatusOr<std::vector<int>> trace = ReadTrace(pool, options);
      if (!trace.ok()) return trace.status();
      each.trace.nodes = *std::move(trace);
    }
    most += pool.max();
    local.pools.push_back(std::move(each));
  }
  const auto memory = common::ReadMemory();
  if (!memory.ok()) return memory.status();
  local.memory = memory->total / std::max(1, most);
  return LocalProvider::Open(local);
}

}  // namespace

constinit const ProviderKind kLocalKind{.name = "local",
                                        .fields = kFields,
                                        .max = kMax,
                                        .poll_seconds = kPollSeconds,
                                        .is_local = true,
                                        .resolve = Resolve,
                                        .account = Account,
                                        .open = Open};

}  // namespace rekindle::fleet
