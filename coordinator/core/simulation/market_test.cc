// Plays hundreds of random worlds of many jobs, pools that take orders and short markets against the real core.
// REKINDLE_SIM_SEED=N plays only the world of seed N and prints its journal.
// REKINDLE_SIM_COUNT=N plays N worlds, from the seed of REKINDLE_SIM_SEED on when both are set.
#include "coordinator/core/simulation/market.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "coordinator/core/simulation/from_environment.h"

namespace rekindle::core::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kWorlds = 10;
#else
constexpr uint64_t kWorlds = 100;
#endif

TEST(Market, NobodyBelowRunsWhileAMinimumAboveWaits) {
  const bool one = std::getenv("REKINDLE_SIM_SEED") != nullptr;
  const uint64_t first = FromEnvironment("REKINDLE_SIM_SEED", FromEnvironment("REKINDLE_SIM_FIRST_SEED", 1));
  const uint64_t many = FromEnvironment("REKINDLE_SIM_COUNT", one ? 1 : kWorlds);
  int preemptions = 0;
  for (uint64_t seed = first; seed < first + many; ++seed) {
    Market market(seed);
    const std::string violation = market.Play();
    preemptions += market.preemptions();
    if (many == 1) std::cout << absl::StrJoin(market.journal(), "\n") << "\n";
    ASSERT_EQ(violation, "") << "play it again with REKINDLE_SIM_SEED=" << seed << "\n"
                             << absl::StrJoin(market.journal(), "\n");
  }
  std::cout << many << " worlds, " << preemptions << " preemptions\n";
  EXPECT_GT(preemptions, many >= kWorlds ? 0 : -1);
}

// The same seed plays the same schedule, so that a failure can be played again.
TEST(Market, IsAFunctionOfTheSeed) {
  Market a(7), b(7);
  EXPECT_EQ(a.Play(), b.Play());
  EXPECT_EQ(a.journal(), b.journal());
}

}  // namespace
}  // namespace rekindle::core::simulation
