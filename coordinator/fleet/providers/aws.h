// AWS: one Auto Scaling group a pool, over the Query API (version 2011-01-01). Nodes are called as their instances.
//
// Needs autoscaling:DescribeAutoScalingGroups, DescribeScalingActivities, SetDesiredCapacity and
// TerminateInstanceInAutoScalingGroup; and ec2:DescribeInstances, without which jobs wait longer for instances that are
// gone. What is ordered beyond the group's own limits is cut to them, and refused.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/cloud_api.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

struct AwsOptions {
  std::string region;
  std::string endpoint;                       // Empty: the region's own.
  std::map<std::string, std::string> groups;  // By pool.
};

// INVALID_ARGUMENT: the endpoint.
absl::StatusOr<std::unique_ptr<Provider>> NewAwsProvider(AwsOptions options, Variables variables = ProcessVariables());

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_H_
