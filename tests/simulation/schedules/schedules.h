// Chooses the kind of schedule that a seed plays. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULES_H_
#define REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULES_H_

#include <cstdint>

#include "tests/simulation/schedules/schedule_options.h"

namespace rekindle::core::simulation {

// Sizes a cluster by the machines that are there at first: up to 8, 9 to 40, or 41 to 200.
enum class Size { kSmall, kMiddle, kLarge };
inline constexpr Size kSizes[] = {Size::kSmall, Size::kMiddle, Size::kLarge};
const char* NameOf(Size size);

// Returns the size of cluster that the seed plays: the seed modulo 3 decides it.
Size SizeOf(uint64_t seed);
Options OptionsOf(uint64_t seed);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_SCHEDULES_SCHEDULES_H_
