// AWS: the newest spot price of an instance type in a zone, by EC2's DescribeSpotPriceHistory (version 2016-11-15).
//
// Needs ec2:DescribeSpotPriceHistory. Of Linux; on-demand prices are in another interface, and not asked for.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/cloud_api.h"
#include "coordinator/fleet/providers/price_source.h"

namespace rekindle::fleet {

struct AwsOffer {
  std::string zone;
  std::string instance_type;
};

struct AwsPriceOptions {
  std::string region;
  std::string endpoint;                    // Empty: the region's own.
  std::map<std::string, AwsOffer> offers;  // By pool.
};

// INVALID_ARGUMENT: the endpoint.
absl::StatusOr<std::unique_ptr<PriceSource>> NewAwsPrices(AwsPriceOptions options,
                                                          Variables variables = ProcessVariables());

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_PRICES_H_
