// Google Cloud's price list, pure: what a core, a GiB of memory and a GPU of each family cost in a region.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_SKUS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_SKUS_H_

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "common/strict_json.h"
#include "coordinator/fleet/providers/gcp_machine.h"

namespace rekindle::fleet {

// What an hour of a part costs: of a core, a GiB or a GPU.
struct GcpRate {
  double price = 0;
  std::string wrong;  // Not empty: why it is not used.
};
// By region, whether spot, and name, as in GcpPart.
using GcpRates = std::map<std::tuple<std::string, bool, std::string>, GcpRate>;

// Adds what a page of the Cloud Billing Catalog tells of GcpPartNames in `regions`. Commitments, reservations, sole
// tenancy and custom machines are none. INTERNAL: it is no page.
absl::Status TakeGcpSkus(const nlohmann::json& page, const std::string& currency, const std::set<std::string>& regions,
                         GcpRates& rates);

// A machine's hour: the sum of its parts, each of which must have exactly one price. NOT_FOUND names the part that has
// none, FAILED_PRECONDITION what is not known of it, both with the fix.
absl::StatusOr<double> GcpPrice(const GcpMachine& machine, const std::string& region, bool spot, const GcpRates& rates);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_SKUS_H_
