// Reads the number in an environment variable that controls a simulation: which seed to play, from which seed on, or
// how many. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_FROM_ENVIRONMENT_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_FROM_ENVIRONMENT_H_

#include <cstdint>
#include <cstdlib>

namespace rekindle::core::simulation {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_FROM_ENVIRONMENT_H_
