// Thousands of random schedules of faults against the real core.
//   REKINDLE_SIM_SEED=N        plays only that one and prints its journal;
//   REKINDLE_SIM_FIRST_SEED=N  plays those from N on instead of from 1;
//   REKINDLE_SIM_COUNT=N       plays so many.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/simulation/schedules.h"
#include "coordinator/core/simulation/tally.h"
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSchedules = 150;
#else
constexpr uint64_t kSchedules = 1000;
#endif
constexpr uint64_t kEnoughForEachFault = 500;
constexpr int kMostSeedsNamed = 200;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

TEST(Simulation, HoldsUnderEverySchedule) {
  const bool one = std::getenv("REKINDLE_SIM_SEED") != nullptr;
  const uint64_t first = FromEnvironment("REKINDLE_SIM_SEED", FromEnvironment("REKINDLE_SIM_FIRST_SEED", 1));
  const uint64_t count = one ? 1 : FromEnvironment("REKINDLE_SIM_COUNT", kSchedules);
  int64_t steps = 0;
  int failed = 0;
  Tally tally;
  std::string seeds, first_failure;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    World world(seed, OptionsOf(seed));
    const std::string violation = world.Play();
    steps += world.steps_of_coordinator();
    tally.Add(world.tally());
    if (one) std::cout << absl::StrJoin(world.journal(), "\n") << "\n";
    if (violation.empty()) continue;
    if (++failed == 1) first_failure = absl::StrJoin(world.journal(), "\n");
    if (failed <= kMostSeedsNamed) absl::StrAppend(&seeds, "REKINDLE_SIM_SEED=", seed, ": ", violation, "\n");
  }
  std::cout << count << " schedules from seed " << first << " on, " << steps << " events at the coordinator\n"
            << tally.Describe();
  EXPECT_EQ(failed, 0) << seeds << "The first:\n" << first_failure;
  if (count < kEnoughForEachFault) return;
  for (int i = 0; i < static_cast<int>(Fault::kCount); ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_GT(tally.Times(fault), 0) << "it never happened that " << NameOf(fault);
  }
}

// The same seed plays the same schedule: a failure can be looked into.
TEST(Simulation, IsAFunctionOfTheSeed) {
  for (const uint64_t seed : {7, 8, 9, 12, 14}) {
    World a(seed, OptionsOf(seed)), b(seed, OptionsOf(seed));
    EXPECT_EQ(a.Play(), b.Play());
    EXPECT_EQ(a.journal(), b.journal());
  }
}

}  // namespace
}  // namespace rekindle::core::simulation
