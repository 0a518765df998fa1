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

// A GcpRate is what an hour of a part costs, which is a core, a GiB or a GPU.
struct GcpRate {
  double price = 0;
  // `wrong` says why the rate is not used. It is empty where the rate is good.
  std::string wrong;
};
// The key is the region, whether it is spot, and the name as in GcpPart.
using GcpRates = std::map<std::tuple<std::string, bool, std::string>, GcpRate>;

// Adds the rates of GcpPartNames in `regions` from a page of the Cloud Billing Catalog. It skips commitments,
// reservations, sole tenancy and custom machines. INTERNAL says that the document is no such page.
absl::Status TakeGcpSkus(const nlohmann::json& page, const std::string& currency, const std::set<std::string>& regions,
                         GcpRates& rates);

// Returns the price of a machine's hour. It is the sum of its parts, each of which must have exactly one price.
// NOT_FOUND names a part without a price, and FAILED_PRECONDITION says what is not known of a part. Both contain the
// fix.
absl::StatusOr<double> GcpPrice(const GcpMachine& machine, const std::string& region, bool spot, const GcpRates& rates);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_SKUS_H_
