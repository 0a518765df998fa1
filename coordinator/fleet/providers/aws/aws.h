// This file gets machines from AWS. Each pool is one Auto Scaling group, over the Query API (version 2011-01-01). A
// node has the name of its instance.
//
// The adapter needs autoscaling:DescribeAutoScalingGroups, DescribeScalingActivities, SetDesiredCapacity and
// TerminateInstanceInAutoScalingGroup. It also needs ec2:DescribeInstances, without which jobs wait longer for
// instances that are gone. An order beyond the group's own limits is cut to them, and an error says so.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

struct AwsOptions {
  std::string region;
  // An empty `endpoint` means the endpoints that AWS itself has in the region.
  std::string endpoint;
  // `groups` maps the names of pools to the names of their Auto Scaling groups.
  std::map<std::string, std::string> groups;
};

// Returns a provider of AWS machines. INVALID_ARGUMENT says that the endpoint is wrong.
absl::StatusOr<std::unique_ptr<Provider>> NewAwsProvider(AwsOptions options, Variables variables = ProcessVariables());

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_H_
