// Azure: what a virtual machine costs in a region, spot or on demand, by the Azure Retail Prices API, which asks nobody
// who they are (https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices).
//
// List prices of Linux: what an agreement takes off is not in them.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/price_source.h"

namespace rekindle::fleet {

inline constexpr char kAzurePricesEndpoint[] = "https://prices.azure.com";

struct AzureOffer {
  std::string region;
  std::string instance_type;  // "Standard_F8s_v2".
  bool spot = true;
};

// `offers`: by pool; `endpoint` empty: the documented one. INVALID_ARGUMENT: the endpoint.
absl::StatusOr<std::unique_ptr<PriceSource>> NewAzurePrices(const std::string& endpoint, const std::string& currency,
                                                            std::map<std::string, AzureOffer> offers);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_PRICES_H_
