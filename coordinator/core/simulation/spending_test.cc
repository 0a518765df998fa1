// Random worlds of one job with a budget, on machines that are cut off.
//   REKINDLE_SIM_SEED=N   plays only that one and prints its journal;
//   REKINDLE_SIM_COUNT=N  plays so many, from that seed on when both are set.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "coordinator/core/simulation/spending_world.h"

namespace rekindle::core::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kWorlds = 10;
#else
constexpr int kWorlds = 100;
#endif

TEST(Spending, WhatRanIsOnTheBillAndTheBudgetIsKept) {
  const char* one = std::getenv("REKINDLE_SIM_SEED");
  const char* count = std::getenv("REKINDLE_SIM_COUNT");
  const uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
  const uint64_t many = count != nullptr ? std::strtoull(count, nullptr, 10) : one != nullptr ? 1 : kWorlds;
  int ended_alone = 0, stopped = 0;
  for (uint64_t seed = first; seed < first + many; ++seed) {
    SpendingWorld world(seed);
    const std::string violation = world.Play();
    ended_alone += world.ended_alone();
    stopped += world.stopped_for_budget();
    if (many == 1) std::cout << absl::StrJoin(world.journal(), "\n") << "\n";
    EXPECT_EQ(violation, "") << "play it again with REKINDLE_SIM_SEED=" << seed;
  }
  std::cout << many << " worlds, " << ended_alone << " machines ended by themselves, " << stopped
            << " stops for the budget\n";
  EXPECT_GT(ended_alone, many >= kWorlds ? 0 : -1);
  EXPECT_GT(stopped, many >= kWorlds ? 0 : -1);
}

// The same seed plays the same schedule: a failure can be looked into.
TEST(Spending, IsAFunctionOfTheSeed) {
  SpendingWorld a(7), b(7);
  EXPECT_EQ(a.Play(), b.Play());
  EXPECT_EQ(a.journal(), b.journal());
}

}  // namespace
}  // namespace rekindle::core::simulation
