// This file makes lines of Google's price list for tests, as the Cloud Billing Catalog shows them.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_GCP_SKU_TESTING_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_GCP_SKU_TESTING_H_

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

namespace rekindle::fleet {

// Returns a line of the price list. `price` is in USD an hour, and `more` is merged into the line.
inline nlohmann::json Sku(const std::string& description, double price,
                          const nlohmann::json& more = nlohmann::json::object()) {
  const bool ram = description.find(" Ram ") != std::string::npos;
  const bool spot = description.find("Spot Preemptible") != std::string::npos;
  nlohmann::json sku = {{"name", "services/6F81-5844-456A/skus/0012-B7F2-DD14"},
                        {"skuId", "0012-B7F2-DD14"},
                        {"description", description},
                        {"category",
                         {{"serviceDisplayName", "Compute Engine"},
                          {"resourceFamily", "Compute"},
                          {"resourceGroup", ram ? "RAM" : "CPU"},
                          {"usageType", spot ? "Preemptible" : "OnDemand"}}},
                        {"serviceRegions", {"us-central1", "us-east1", "us-west1"}},
                        {"pricingInfo",
                         {{{"summary", ""},
                           {"pricingExpression",
                            {{"usageUnit", ram ? "GiBy.h" : "h"},
                             {"displayQuantity", 1},
                             {"tieredRates",
                              {{{"startUsageAmount", 0},
                                {"unitPrice",
                                 {{"currencyCode", "USD"},
                                  {"units", std::to_string(static_cast<int>(price))},
                                  {"nanos", std::lround((price - std::floor(price)) * 1e9)}}}}}}}},
                           {"currencyConversionRate", 1},
                           {"effectiveTime", "2026-11-20T01:48:54.819Z"}}}},
                        {"serviceProviderName", "Google"}};
  sku.merge_patch(more);
  return sku;
}

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_GCP_SKU_TESTING_H_
