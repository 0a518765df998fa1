// This file finds out what a virtual machine costs in a region of Azure, spot or on demand. It uses the Azure Retail
// Prices API, which needs no credentials
// (https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices).
//
// The prices are list prices of Linux machines. They do not contain the discount of an agreement.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/price_source.h"

namespace rekindle::fleet {

inline constexpr char kAzurePricesEndpoint[] = "https://prices.azure.com";

struct AzureOffer {
  std::string region;
  // `instance_type` is a name such as "Standard_F8s_v2".
  std::string instance_type;
  bool spot = true;
};

// Returns a source of Azure prices. `offers` maps the names of pools to the machines that they buy. An empty `endpoint`
// means the documented one. INVALID_ARGUMENT says that the endpoint is wrong.
absl::StatusOr<std::unique_ptr<PriceSource>> NewAzurePrices(const std::string& endpoint, const std::string& currency,
                                                            std::map<std::string, AzureOffer> offers);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_PRICES_H_
