// This file declares how a provider describes itself: which fields its pools have in a fleet file, how their machines
// are bought, and how their prices are asked for. There is one ProviderKind beside each adapter, and one table of all
// of them (registry/provider_kinds.h).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_KIND_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Pools is a list of at least one pool. All of its pools have the same provider, and ResolveFleet has resolved them.
using Pools = std::vector<v1::Fleet::Pool>;

// A pool has at most `kDefaultMax` nodes where its fleet file does not say how many.
inline constexpr int kDefaultMax = 1000;

// A MachineField is a field of `machines` (proto/rekindle/v1/fleet.proto) that the pools of a provider have.
struct MachineField {
  enum class Form {
    // The value of a field with the form `kName` is a text that CheckName accepts.
    kName,
    // The value of a field with the form `kEndpoint` is an HTTP address, with TLS or on loopback.
    kEndpoint,
    // The value of a field with the form `kOther` is neither a name nor an endpoint. ProviderKind::resolve checks such
    // a value where it can be wrong.
    kOther,
  };
  const char* name;
  Form form;
  bool needed = false;
};

struct ProviderOptions {
  // `data` is the coordinator's data folder, in which local machines have their folders.
  std::string data;
  // `endpoint_file` is the file with the coordinator's host:port, from which local machines get that address.
  std::string endpoint_file;
  // `beside` is the folder that relative paths in the fleet file start from.
  std::string beside;
};

// A PriceKind says how a provider is asked what its nodes cost.
struct PriceKind {
  // Checks what the provider requires of a pool with `price_from: provider`. `path` is the pool's path in the fleet
  // file. INVALID_ARGUMENT names the field below that path and the fix. A null `check` means that nothing is required.
  absl::Status (*check)(const std::string& path, const std::string& currency, const v1::Fleet::Pool& pool) = nullptr;
  // Returns a text that is the same for all pools whose prices come from one source.
  std::string (*account)(const v1::Fleet::Pool& pool);
  // Opens the price source of pools that have the same account. It does not touch the network. INVALID_ARGUMENT says
  // that an endpoint is wrong.
  absl::StatusOr<std::unique_ptr<PriceSource>> (*open)(const Pools& pools, const std::string& currency);
};

// The functions of a ProviderKind are pure, except for `open`.
struct ProviderKind {
  // `name` is the name of the provider, which a pool states in its field `provider`.
  const char* name;
  std::span<const MachineField> fields;
  // `max` and `poll_seconds` are the defaults of a pool that has the field `machines`.
  int max = kDefaultMax;
  double poll_seconds = 30;
  // `is_local` says that the machines are processes of this computer. `open` then returns a LocalProvider, and its
  // errors name the pool.
  bool is_local = false;
  // Fills in the provider's own defaults of a pool, and checks what only this provider requires. `path` is the pool's
  // path in the fleet file. INVALID_ARGUMENT names the field below that path and the fix. A null `resolve` means that
  // there is nothing to do. REQUIRES: the pool has the needed fields, and `max` is filled in.
  absl::Status (*resolve)(const std::string& path, v1::Fleet::Pool& pool) = nullptr;
  // Returns in words which group of machines a pool scales. No two pools may scale the same group. A null `group` means
  // that no two pools of this provider can scale the same machines.
  std::string (*group)(const v1::Fleet::Pool& pool) = nullptr;
  // Returns a text that is the same for all pools that share credentials and an endpoint.
  std::string (*account)(const v1::Fleet::Pool& pool);
  // Opens the provider of pools that have the same account. It does not touch the network. Errors say what is wrong and
  // what to do.
  absl::StatusOr<std::unique_ptr<Provider>> (*open)(const Pools& pools, const ProviderOptions& options);
  // `prices` is null where the provider cannot be asked for prices.
  const PriceKind* prices = nullptr;
};

// Checks that a name has only letters, digits, '-', '_' and '.', because it becomes a part of host names, paths and
// queries.
absl::Status CheckName(const std::string& field, const std::string& name);

// Returns whether the fleet file says that the pool's provider is asked for its price.
bool IsPriceAsked(const v1::Fleet::Pool& pool);

// Returns a path from the fleet file in a form that this process can open.
std::string OpenablePath(const std::string& path, const ProviderOptions& options);

// Calls the function `part` for each pool. Returns a map from the names of the pools to the results.
template <typename Part>
std::map<std::string, Part> ByPool(const Pools& pools, Part (*part)(const v1::Fleet::Pool&)) {
  std::map<std::string, Part> parts;
  for (const v1::Fleet::Pool& pool : pools) parts.emplace(pool.name(), part(pool));
  return parts;
}

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PROVIDER_KIND_H_
