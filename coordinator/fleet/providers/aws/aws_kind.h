// This file describes pools that get their machines from AWS.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kAwsKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_KIND_H_
