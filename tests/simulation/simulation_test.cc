// Plays random schedules of faults. Each size of cluster gets about a third of the time. Environment variables change
// what is played:
//   REKINDLE_SIM_SEED=N plays only the schedule of seed N and prints its journal.
//   REKINDLE_SIM_FIRST_SEED=N starts with seed N instead of 1.
//   REKINDLE_SIM_COUNT=N plays N small schedules, and for about as long those of each larger size.
//   REKINDLE_SIM_SECONDS=N plays for N seconds instead, whatever the number of schedules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/simulation/from_environment.h"
#include "tests/simulation/schedules/schedules.h"
#include "tests/simulation/sim_cluster.h"
#include "tests/simulation/world/tally.h"

namespace rekindle::core::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSchedules = 50;
#else
constexpr int kSchedules = 150;
#endif
constexpr int kEnoughForEachFault = 500;
constexpr int kMostSeedsNamed = 200;
// `kWorth` has for each size how many small schedules take as long as one schedule of that size. The numbers were
// measured.
constexpr std::array<int, std::size(kSizes)> kWorth = {1, 10, 60};

// `playing` is the seed of the schedule that is being played. The signal handler needs it after a crash.
volatile std::sig_atomic_t playing = 0;

// Prints how to replay the schedule in which this program crashed. It uses only what a signal handler may call.
void TellSeed(int signal) {
  char text[] = "\ncrashed: play it again with REKINDLE_SIM_SEED=0000000000\n";
  auto seed = static_cast<uint32_t>(playing);
  for (char* digit = text + sizeof text - 3; *digit != '='; --digit, seed /= 10)
    *digit = static_cast<char>('0' + seed % 10);
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Plays schedules and keeps their violations and counts.
class Search {
 public:
  explicit Search(uint64_t first) : first_(first) {}

  void Play(uint64_t seed, bool show = false) {
    const auto start = std::chrono::steady_clock::now();
    playing = static_cast<std::sig_atomic_t>(seed);
    SimCluster cluster(seed, OptionsOf(seed));
    const std::string violation = cluster.Play();
    const auto size = static_cast<size_t>(SizeOf(seed));
    ++played_[size];
    seconds_[size] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    events_ += cluster.turns_of_coordinator();
    tally_.Add(cluster.tally());
    if (show) std::cout << absl::StrJoin(cluster.journal(), "\n") << "\n";
    if (violation.empty()) return;
    // A search may take hours, so a violation is printed at once and not only at the end.
    std::cout << "violation: REKINDLE_SIM_SEED=" << seed << ": " << violation << std::endl;
    if (++failed_ == 1) first_failure_ = absl::StrJoin(cluster.journal(), "\n");
    if (failed_ <= kMostSeedsNamed) absl::StrAppend(&seeds_, "REKINDLE_SIM_SEED=", seed, ": ", violation, "\n");
  }

  // Plays the next schedule of the size `size`.
  void PlayNext(size_t size) {
    uint64_t seed = first_ + 3 * static_cast<uint64_t>(next_[size]++);
    while (static_cast<size_t>(SizeOf(seed)) != size) ++seed;
    Play(seed);
  }

  void PlayCount(int count) {
    for (int i = 1; i <= count; ++i) {
      for (size_t size = 0; size < kWorth.size(); ++size) {
        if (i % kWorth[size] == 0) PlayNext(size);
      }
    }
  }

  void PlaySeconds(double seconds) {
    while (std::accumulate(seconds_.begin(), seconds_.end(), 0.0) < seconds) {
      PlayNext(static_cast<size_t>(std::min_element(seconds_.begin(), seconds_.end()) - seconds_.begin()));
    }
  }

  std::string Describe() const {
    std::string text = absl::StrCat("from seed ", first_, " on, ", events_, " turns of the coordinator\n");
    for (size_t i = 0; i < played_.size(); ++i) {
      absl::StrAppendFormat(&text, "  %d schedules of %s in %.1f s\n", played_[i], NameOf(kSizes[i]), seconds_[i]);
    }
    return text + tally_.Describe();
  }

  int failed() const { return failed_; }
  int played() const { return std::accumulate(played_.begin(), played_.end(), 0); }
  std::string Failures() const { return seeds_ + "The first:\n" + first_failure_; }
  const Tally& tally() const { return tally_; }

 private:
  const uint64_t first_;
  std::array<int, std::size(kSizes)> next_ = {}, played_ = {};
  std::array<double, std::size(kSizes)> seconds_ = {};
  int64_t events_ = 0;
  int failed_ = 0;
  Tally tally_;
  std::string seeds_, first_failure_;
};

TEST(Simulation, HoldsUnderEverySchedule) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE}) std::signal(signal, TellSeed);
  const bool one = std::getenv("REKINDLE_SIM_SEED") != nullptr;
  const uint64_t seconds = FromEnvironment("REKINDLE_SIM_SECONDS", 0);
  Search search(FromEnvironment("REKINDLE_SIM_FIRST_SEED", 1));
  if (one) {
    search.Play(FromEnvironment("REKINDLE_SIM_SEED", 0), true);
  } else if (seconds > 0) {
    search.PlaySeconds(static_cast<double>(seconds));
  } else {
    search.PlayCount(static_cast<int>(FromEnvironment("REKINDLE_SIM_COUNT", kSchedules)));
  }
  std::cout << search.Describe();
  EXPECT_EQ(search.failed(), 0) << search.Failures();
  if (search.played() < kEnoughForEachFault) return;
  for (int i = 0; i < static_cast<int>(Fault::kCount); ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_GT(search.tally().Times(fault), 0) << "it never happened that " << NameOf(fault);
  }
}

// A seed always plays the same schedule, so that a failure can be investigated.
TEST(Simulation, IsAFunctionOfTheSeed) {
  for (const uint64_t seed : {18, 21, 24, 36, 39, 42, 28}) {
    SimCluster a(seed, OptionsOf(seed)), b(seed, OptionsOf(seed));
    EXPECT_EQ(a.Play(), b.Play());
    EXPECT_EQ(a.journal(), b.journal());
  }
}

}  // namespace
}  // namespace rekindle::core::simulation
