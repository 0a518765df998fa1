// This file describes pools that get their machines from a command of the operator's own.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kExecKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_KIND_H_
