// Google Cloud: what a machine type costs in a region, spot or on demand. Compute Engine tells its cores, memory and
// GPUs, the Cloud Billing Catalog (https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list) what an
// hour of each costs.
//
// Needs compute.machineTypes.get, and the Cloud Billing API to be enabled. List prices of cores, memory and GPUs: no
// disks, no discount of an agreement or for sustained use.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/bearer_api.h"
#include "coordinator/fleet/providers/price_source.h"

namespace rekindle::fleet {

inline constexpr char kGcpPricesEndpoint[] = "https://cloudbilling.googleapis.com";

struct GcpOffer {
  std::string project;
  std::string region;
  std::string zone;
  std::string instance_type;  // "g2-standard-4".
  bool spot = true;
  bool gpus = false;  // Its nodes have some: refused where the type brings none, as what is attached is not told.
};

struct GcpPriceOptions {
  std::string endpoint;  // Of prices; empty: the documented one.
  std::string compute_endpoint;
  std::string currency;
  std::map<std::string, GcpOffer> offers;  // By pool.
  // The price list has tens of thousands of lines, and is read once for all pools; Google changes spot prices once in
  // 30 days at most.
  double list_seconds = 1800;
  double failed_seconds = 10;  // The other pools do not ask again for a list that could not be read so shortly ago.
};

// INVALID_ARGUMENT: an endpoint.
absl::StatusOr<std::unique_ptr<PriceSource>> NewGcpPrices(GcpPriceOptions options, const FetchToken& token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_PRICES_H_
