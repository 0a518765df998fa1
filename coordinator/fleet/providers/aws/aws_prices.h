// This file finds the newest spot price of an instance type in an AWS zone, with EC2's DescribeSpotPriceHistory
// (version 2016-11-15).
//
// The adapter needs ec2:DescribeSpotPriceHistory. The prices are those of Linux. On-demand prices belong to another
// interface of AWS, which is not used.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_PRICES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_PRICES_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

struct AwsOffer {
  std::string zone;
  std::string instance_type;
};

struct AwsPriceOptions {
  std::string region;
  // An empty `endpoint` means the endpoint that AWS itself has in the region.
  std::string endpoint;
  // `offers` maps the names of pools to the machines that they buy.
  std::map<std::string, AwsOffer> offers;
};

// Returns a source of AWS spot prices. INVALID_ARGUMENT says that the endpoint is wrong.
absl::StatusOr<std::unique_ptr<PriceSource>> NewAwsPrices(AwsPriceOptions options,
                                                          Variables variables = ProcessVariables());

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_PRICES_H_
