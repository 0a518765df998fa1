// This file finds out what a machine type of Google Cloud costs in a region, spot or on demand. Compute Engine says how
// many cores, how much memory and how many GPUs the type has. The Cloud Billing Catalog
// (https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list) says what an hour of each costs.
//
// The adapter needs compute.machineTypes.get, and the Cloud Billing API must be enabled. The prices are list prices of
// cores, memory and GPUs. They contain no disks, and no discount of an agreement or for sustained use.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {

inline constexpr char kGcpPricesEndpoint[] = "https://cloudbilling.googleapis.com";

struct GcpOffer {
  std::string project;
  std::string region;
  std::string zone;
  // `instance_type` is the name of the nodes' machine type, such as "g2-standard-4".
  std::string instance_type;
  bool spot = true;
  // `gpus` says that the nodes have GPUs. A machine type that brings no GPUs is then refused, because the API does not
  // say which GPUs the instance group attaches.
  bool gpus = false;
};

struct GcpPriceOptions {
  // `endpoint` is the address of the service that has the price list. An empty `endpoint` means the address that Google
  // documents.
  std::string endpoint;
  std::string compute_endpoint;
  std::string currency;
  // `offers` maps the names of pools to the machines that they buy.
  std::map<std::string, GcpOffer> offers;
  // After `list_seconds` seconds the price list is read again. It has tens of thousands of lines, and is read once for
  // all pools. Google changes spot prices once in 30 days at most.
  double list_seconds = 1800;
  // For `failed_seconds` seconds after a failure to read the price list, no pool asks for it again.
  double failed_seconds = 10;
};

// Returns a source of Google Cloud's prices. INVALID_ARGUMENT says that an endpoint is wrong.
absl::StatusOr<std::unique_ptr<PriceSource>> NewGcpPrices(GcpPriceOptions options, const FetchToken& token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_PRICES_H_
