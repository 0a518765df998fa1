// Finds what is missing or there twice. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_PARTITION_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_PARTITION_H_

#include <set>
#include <string>
#include <vector>

namespace rekindle::core::simulation {

// Returns an empty string if `parts` is a partition of 0..n-1, or what is wrong with it.
std::string FindGap(const std::vector<std::set<int>>& parts, int n);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_PARTITION_H_
