// Test-only: what kind of schedule a seed plays.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_SCHEDULES_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_SCHEDULES_H_

#include <cstdint>

#include "coordinator/core/simulation/model.h"

namespace rekindle::core::simulation {

Options OptionsOf(uint64_t seed);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_SCHEDULES_H_
