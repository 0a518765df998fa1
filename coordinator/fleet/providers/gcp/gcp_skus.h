// This file reads Google Cloud's price list: what a core, a GiB of memory and a GPU of each family cost in a region. It
// is pure.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_SKUS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_SKUS_H_

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "common/text/strict_json.h"
#include "coordinator/fleet/providers/gcp/gcp_machine.h"

namespace rekindle::fleet {

// A GcpRate is what an hour of a core, of a GiB of memory or of a GPU costs.
struct GcpRate {
  double price = 0;
  // `wrong` says why the rate is not used. It is empty where the rate is good.
  std::string wrong;
};
// The key of a rate consists of the region, whether the price is that of spot capacity, and the name of the part as in
// GcpPart.
using GcpRates = std::map<std::tuple<std::string, bool, std::string>, GcpRate>;

// Adds to `rates` what a page of the Cloud Billing Catalog says of the parts in GcpPartNames, for the given regions. It
// skips commitments, reservations, sole tenancy and custom machines. INTERNAL says that the document is no such page.
absl::Status TakeGcpSkus(const nlohmann::json& page, const std::string& currency, const std::set<std::string>& regions,
                         GcpRates& rates);

// Returns what a machine costs in an hour. The price is the sum over its parts, each of which must have exactly one
// price. NOT_FOUND names a part without a price, and FAILED_PRECONDITION says what is not known of a part. Both contain
// the fix.
absl::StatusOr<double> GcpPrice(const GcpMachine& machine, const std::string& region, bool spot, const GcpRates& rates);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_SKUS_H_
