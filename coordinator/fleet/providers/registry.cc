#include "coordinator/fleet/providers/registry.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/file.h"
#include "common/memory.h"
#include "coordinator/fleet/csv.h"
#include "coordinator/fleet/providers/aws.h"
#include "coordinator/fleet/providers/azure.h"
#include "coordinator/fleet/providers/azure_token.h"
#include "coordinator/fleet/providers/exec.h"
#include "coordinator/fleet/providers/gcp.h"
#include "coordinator/fleet/providers/gcp_token.h"
#include "coordinator/fleet/providers/kubernetes.h"
#include "coordinator/fleet/trace.h"

namespace rekindle::fleet {
namespace {

using Pool = v1::Fleet::Pool;
using Pools = std::vector<Pool>;

absl::Status Wrong(const Pool& pool, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("pool ", pool.name(), ": ", why));
}

// What the pools of one account have in common.
std::string AccountOf(const Pool& pool) {
  const v1::Fleet::Machines& machines = pool.machines();
  return absl::StrJoin({pool.provider(), pool.provider() == "aws" ? pool.region() : "", machines.endpoint(),
                        machines.kubeconfig(), machines.subscription(), absl::StrJoin(machines.command(), " ")},
                       " ");
}

std::string PathOf(const std::string& path, const ProviderOptions& options) {
  return path.empty() || path[0] == '/' || options.beside.empty() ? path : absl::StrCat(options.beside, "/", path);
}

absl::StatusOr<std::vector<int>> ReadTrace(const Pool& pool, const ProviderOptions& options) {
  const v1::Fleet::Market& market = pool.machines().market();
  const auto text = common::ReadFile(*common::PosixFileSystem(), PathOf(market.trace(), options), kMaxCsvBytes);
  if (!text.ok()) return Wrong(pool, absl::StrCat("machines.market.trace: ", std::string(text.status().message())));
  const auto trace = ParseTrace(*text, market.trace(), {.step_seconds = market.step_seconds()});
  if (!trace.ok()) return Wrong(pool, absl::StrCat("machines.market.trace: ", std::string(trace.status().message())));
  // A trace without columns for zones is called after its file.
  const std::string stem = std::filesystem::path(market.trace()).stem().string();
  for (const ZoneTrace& zone : trace->zones) {
    if ((zone.zone == pool.zone() || zone.zone == stem) && !zone.nodes.empty()) return zone.nodes;
  }
  return Wrong(pool, absl::StrCat("machines.market.trace: ", market.trace(), " has no column ", pool.zone(),
                                  ", the pool's zone"));
}

absl::StatusOr<std::shared_ptr<LocalProvider>> OpenLocal(const Pools& pools, const ProviderOptions& options) {
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
  auto opened = LocalProvider::Open(local);
  if (!opened.ok()) return opened.status();
  return std::shared_ptr<LocalProvider>(*std::move(opened));
}

template <typename Part>
std::map<std::string, Part> ByPool(const Pools& pools, Part (*part)(const Pool&)) {
  std::map<std::string, Part> parts;
  for (const Pool& pool : pools) parts.emplace(pool.name(), part(pool));
  return parts;
}

absl::StatusOr<std::unique_ptr<Provider>> OpenKubernetes(const Pools& pools, const ProviderOptions& options) {
  const v1::Fleet::Machines& first = pools[0].machines();
  absl::StatusOr<KubernetesAccess> access =
      first.kubeconfig().empty() ? InCluster(ProcessVariables()) : ReadKubeconfig(PathOf(first.kubeconfig(), options));
  if (!access.ok()) return access.status();
  if (!first.endpoint().empty()) access->endpoint = first.endpoint();
  return NewKubernetesProvider(*std::move(access), ByPool<KubernetesSet>(pools, [](const Pool& pool) {
    return KubernetesSet{pool.machines().namespace_(), pool.machines().group()};
  }));
}

absl::StatusOr<std::unique_ptr<Provider>> OpenCloud(const Pools& pools, const ProviderOptions& options) {
  const v1::Fleet::Machines& first = pools[0].machines();
  const std::string& provider = pools[0].provider();
  if (provider == "exec") return NewExecProvider({first.command().begin(), first.command().end()});
  if (provider == "kubernetes") return OpenKubernetes(pools, options);
  if (provider == "aws") {
    return NewAwsProvider(
        {.region = pools[0].region(),
         .endpoint = first.endpoint(),
         .groups = ByPool<std::string>(pools, [](const Pool& pool) { return pool.machines().group(); })});
  }
  if (provider == "gcp") {
    return NewGcpProvider(
        first.endpoint(),
        ByPool<GcpGroup>(pools,
                         [](const Pool& pool) {
                           return GcpGroup{pool.machines().project(), pool.zone(), pool.machines().group()};
                         }),
        GcpToken(ProcessVariables()));
  }
  return NewAzureProvider(
      first.endpoint(),
      ByPool<AzureScaleSet>(
          pools,
          [](const Pool& pool) {
            const v1::Fleet::Machines& machines = pool.machines();
            return AzureScaleSet{machines.subscription(), machines.resource_group(), machines.group()};
          }),
      AzureToken(ProcessVariables()));
}

ReconcileOptions OptionsOf(const Pool& pool) {
  return {.pool = pool.name(),
          .min = pool.min(),
          .max = pool.max(),
          .start_seconds = pool.machines().start_seconds() + pool.machines().boot_seconds(),
          .poll_seconds = pool.machines().poll_seconds()};
}

}  // namespace

absl::StatusOr<Providers> OpenProviders(const v1::Fleet& fleet, const ProviderOptions& options) {
  std::map<std::string, Pools> by_account;
  for (const Pool& pool : fleet.pools()) {
    if (pool.has_machines()) by_account[AccountOf(pool)].push_back(pool);
  }
  Providers providers;
  for (const auto& [name, pools] : by_account) {
    Account account{.name = name};
    for (const Pool& pool : pools) account.pools.push_back(OptionsOf(pool));
    if (pools[0].provider() == "local") {
      auto local = options.local ? options.local : OpenLocal(pools, options);
      if (!local.ok()) return local.status();
      account.provider = providers.local = *std::move(local);
    } else {
      auto provider = OpenCloud(pools, options);
      if (!provider.ok()) return Wrong(pools[0], absl::StrCat("machines: ", std::string(provider.status().message())));
      account.provider = *std::move(provider);
    }
    providers.accounts.push_back(std::move(account));
  }
  return providers;
}

}  // namespace rekindle::fleet
