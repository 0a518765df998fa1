// This file lists the providers of machines. To add a provider, add a line to the table in provider_kinds.cc.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PROVIDER_KINDS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PROVIDER_KINDS_H_

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

// Returns all providers, in the order in which error messages list them.
std::span<const ProviderKind* const> ProviderKinds();

// Returns the provider with the given name. INVALID_ARGUMENT begins with `field`, lists all providers, and says which
// one has the most similar name.
absl::StatusOr<const ProviderKind*> FindProviderKind(const std::string& field, const std::string& name);

// Returns how the provider is asked for prices. INVALID_ARGUMENT begins with `field`, and says which providers can be
// asked.
absl::StatusOr<const PriceKind*> FindPriceKind(const std::string& field, const ProviderKind& kind);

// Returns whether the machines of the pool are processes of this computer.
bool IsLocal(const v1::Fleet::Pool& pool);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PROVIDER_KINDS_H_
