#include "coordinator/scheduler/share_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::scheduler {
namespace {

using Pools = std::vector<Supply>;

Supply There(int slots) { return {.capacity = Capacity::kOnDemand, .slots = slots}; }
Supply ToOrder(int slots, double price, Capacity capacity = Capacity::kSpot) {
  return {.capacity = capacity, .ordered = true, .price = price, .slots = slots};
}
Demand Waiting(int min, int max, int priority = 0, int team = 0) {
  return {.priority = priority, .team = team, .min = min, .max = max};
}
Demand Running(int min, int max, SlotList held, int priority = 0, int team = 0) {
  return {.priority = priority, .team = team, .min = min, .max = max, .firm = true, .held = std::move(held)};
}
std::vector<int> Counts(const std::vector<Allotment>& allotments) {
  std::vector<int> counts;
  for (const Allotment& allotment : allotments) counts.push_back(CountSlots(allotment.slots));
  return counts;
}
using Sizes = std::vector<int>;

TEST(ShareOut, MinimumsComeFirstThenRounds) {
  EXPECT_EQ(Counts(ShareOut({There(7)}, {{}}, {Waiting(1, 10), Waiting(2, 10), Waiting(1, 2)})), Sizes({3, 2, 2}));
}

TEST(ShareOut, WhatIsLeftOfAGangDoesNotKeepItFromAnotherPool) {
  // The gang of two has one node left, in a pool without room for a second. Its team may have only two nodes, so the
  // gang must give up that node to run in the other pool.
  const auto out = ShareOut({ToOrder(1, 1), ToOrder(4, 2)}, {{.max_nodes = 2}}, {Running(2, 2, {{0, 1}})});
  EXPECT_EQ(out[0].slots, SlotList({{1, 2}}));
}

TEST(ShareOut, EachJobTakesWhatIsFastForIt) {
  Demand job = Waiting(1, 2);
  job.speeds = {1, 4, 1, 3};
  const Pools pools = {There(1), There(1), ToOrder(5, 1), ToOrder(5, 2)};
  EXPECT_EQ(ShareOut(pools, {{}}, {job})[0].slots, SlotList({{0, 1}, {1, 1}}));
  // The third slot has to be ordered. It comes from the pool where the job's work costs least.
  job.max = 3;
  EXPECT_EQ(ShareOut(pools, {{}}, {job})[0].slots, SlotList({{0, 1}, {1, 1}, {3, 1}}));
  // All pools are equally fast for `other`, so it leaves `job` the pool that is fast for `job`.
  Demand other = Waiting(1, 1);
  job.max = 1;
  EXPECT_EQ(ShareOut(pools, {{}}, {other, job})[1].slots, SlotList({{1, 1}}));
}

TEST(ShareOut, FirstInOrderTakesWhatIsThere) {
  // The second job waits with two of the three slots that it needs. No later job gets them, because the second job
  // might then wait for ever.
  const auto out = ShareOut({There(5)}, {{}}, {Waiting(3, 3), Waiting(3, 3), Waiting(1, 1)});
  EXPECT_EQ(Counts(out), Sizes({3, 2, 0}));
  EXPECT_EQ(out[1].wait, Wait::kCapacity);
}

TEST(ShareOut, WhoLostAPartGoesBeforeThoseThatWaitWithNothing) {
  EXPECT_EQ(Counts(ShareOut({There(2)}, {{}}, {Waiting(2, 2), Running(2, 2, {{0, 1}})})), Sizes({0, 2}));
  EXPECT_EQ(Counts(ShareOut({There(2)}, {{}}, {Waiting(2, 2, 1), Running(2, 2, {{0, 1}})})), Sizes({2, 0}));
}

TEST(ShareOut, OfTwoThatLostAPartTheOlderTakesWhatTheOtherHasLeft) {
  EXPECT_EQ(Counts(ShareOut({There(3)}, {{}}, {Running(3, 3, {{0, 1}}), Running(2, 2, {{0, 1}})})), Sizes({3, 0}));
  const auto stuck = ShareOut({There(2)}, {{}}, {Running(2, 2, {{0, 1}}), Running(2, 2, {{0, 1}})});
  EXPECT_EQ(Counts(stuck), Sizes({2, 0}));
  EXPECT_EQ(stuck[1].taken_by, 0);
  // The second job has its minimum of one slot, so the first job cannot take it.
  EXPECT_EQ(Counts(ShareOut({There(2)}, {{}}, {Running(2, 2, {{0, 1}}), Running(1, 2, {{0, 1}})})), Sizes({1, 1}));
}

TEST(ShareOut, WhatCanNeverRunStandsInNobodysWay) {
  EXPECT_EQ(Counts(ShareOut({There(5)}, {{}}, {Waiting(6, 6), Waiting(2, 4)})), Sizes({1, 4}));
}

TEST(ShareOut, PriorityTakesWhatIsAboveMinimumThenTheNewest) {
  const Pools pools = {There(6)};
  auto out = ShareOut(pools, {{}}, {Running(1, 3, {{0, 3}}), Running(1, 3, {{0, 3}}), Waiting(4, 4, 1)});
  EXPECT_EQ(Counts(out), Sizes({1, 1, 4}));
  EXPECT_EQ(out[0].taken_by, 2);
  out = ShareOut(pools, {{}}, {Running(3, 3, {{0, 3}}), Running(3, 3, {{0, 3}}), Waiting(2, 2, 1)});
  // The third job took two slots of the second job, which now waits and keeps the slot that is left.
  EXPECT_EQ(Counts(out), Sizes({3, 1, 2}));
  EXPECT_EQ(out[1].wait, Wait::kPreempted);
  // The third job could take only three slots, because the second job has the same priority. It needs four, so it takes
  // none.
  EXPECT_EQ(Counts(ShareOut(pools, {{}}, {Running(3, 3, {{0, 3}}), Running(3, 3, {{0, 3}}, 1), Waiting(4, 4, 1)})),
            Sizes({3, 3, 0}));
}

TEST(ShareOut, AGangThatLacksOneDoesNotKeepOthersFromWhatIsTheirs) {
  // The gang lacks one slot in the pool where it is, or three in the other pool, and cannot get either. The last job
  // can have two in the other pool.
  const auto out =
      ShareOut({ToOrder(2, 1), ToOrder(2, 2)}, {{}},
               {Running(3, 3, {{0, 2}}, 9), Running(1, 1, {{1, 1}}), Running(1, 1, {{1, 1}}), Waiting(2, 2, 1)});
  EXPECT_EQ(Counts(out), Sizes({2, 0, 0, 2}));
}

TEST(ShareOut, MoreThanTheMinimumTakesNothingFromOthers) {
  EXPECT_EQ(Counts(ShareOut({There(4)}, {{}}, {Running(1, 4, {{0, 3}}), Running(1, 4, {{0, 1}}, 9)})), Sizes({3, 1}));
}

TEST(ShareOut, TeamsGetTheirShares) {
  const std::vector<Team> teams = {{.share = 3}, {.share = 1}};
  EXPECT_EQ(Counts(ShareOut({There(8)}, teams, {Waiting(1, 8, 0, 1), Waiting(1, 8, 0, 0)})), Sizes({2, 6}));
}

TEST(ShareOut, QuotasHold) {
  const std::vector<Team> teams = {{.max_nodes = 3}, {}};
  const auto out = ShareOut({There(8)}, teams, {Waiting(1, 8), Waiting(3, 3), Waiting(1, 2, 0, 1)});
  EXPECT_EQ(Counts(out), Sizes({3, 0, 2}));
  EXPECT_EQ(out[1].wait, Wait::kQuota);
}

TEST(ShareOut, WhatIsThereGoesBeforeWhatIsBought) {
  const auto out = ShareOut({ToOrder(4, 1), There(2)}, {{}}, {Waiting(1, 3)});
  EXPECT_EQ(out[0].slots, (SlotList{{0, 1}, {1, 2}}));
}

TEST(ShareOut, AGangIsInOnePool) {
  const Pools pools = {ToOrder(3, 1), ToOrder(4, 2), There(2)};
  EXPECT_EQ(ShareOut(pools, {{}}, {Waiting(4, 4)})[0].slots, (SlotList{{1, 4}}));
}

TEST(ShareOut, AJobTakesItsKindOfDeviceAndCapacity) {
  Pools pools = {There(2), There(2), ToOrder(2, 1), ToOrder(2, 1, Capacity::kOnDemand)};
  pools[0].device = "cpu";
  pools[1].device = "cuda";
  Demand gpu = Waiting(1, 9);
  gpu.device = "cuda";
  EXPECT_EQ(ShareOut(pools, {{}}, {gpu})[0].slots, (SlotList{{1, 2}}));
  Demand spot = Waiting(1, 9);
  spot.on_demand = false;
  EXPECT_EQ(ShareOut(pools, {{}}, {spot})[0].slots, (SlotList{{2, 2}}));
  Demand few = Waiting(1, 9);
  few.max_ordered = 1;
  EXPECT_EQ(ShareOut(pools, {{}}, {few})[0].slots, (SlotList{{0, 2}, {1, 2}, {2, 1}}));
}

// The fixture checks what must be true of the allotments in every fleet.
class Fleets : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* seed = std::getenv("REKINDLE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu: REKINDLE_SEED=%llu plays it again\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(seed_));
    random_.seed(seed_);
  }
  int Draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  void MakeFleet() {
    pools_.clear();
    teams_.clear();
    jobs_.clear();
    for (int p = Draw(1, 5); p > 0; --p) {
      pools_.push_back({.capacity = Draw(0, 1) ? Capacity::kSpot : Capacity::kOnDemand,
                        .ordered = Draw(0, 2) == 0,
                        .price = Draw(1, 5) * 1.0,
                        .device = Draw(0, 1) ? "cpu" : "cuda",
                        .slots = Draw(0, 12)});
    }
    for (int t = Draw(1, 3); t > 0; --t) {
      teams_.push_back({.share = Draw(1, 4) * 1.0, .max_nodes = Draw(0, 1) ? kNever : Draw(1, 20)});
    }
    for (int j = Draw(1, 9); j > 0; --j) {
      Demand job = Waiting(Draw(1, 5), 0, Draw(0, 3), Draw(0, static_cast<int>(teams_.size()) - 1));
      job.max = job.min + (Draw(0, 1) ? 0 : Draw(0, 6));
      job.on_demand = Draw(0, 3) > 0;
      if (Draw(0, 4) == 0) job.device = "cpu";
      jobs_.push_back(job);
    }
  }
  // Lets each job hold what it was given, and go on running where that is enough.
  void Follow(const std::vector<Allotment>& out) {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      jobs_[j].held = out[j].slots;
      jobs_[j].firm = CountSlots(out[j].slots) >= jobs_[j].min;
    }
  }
  int Given(const std::vector<Allotment>& out, int pool) const {
    int count = 0;
    for (const Allotment& allotment : out) {
      for (const Slots& s : allotment.slots) count += s.pool == pool ? s.count : 0;
    }
    return count;
  }
  bool CouldUse(const Demand& job, int pool) const {
    if (!job.device.empty() && job.device != pools_[pool].device) return false;
    return pools_[pool].capacity == Capacity::kSpot ? job.spot : job.on_demand;
  }
  void Check(const std::vector<Allotment>& out) const {
    for (size_t p = 0; p < pools_.size(); ++p) {
      EXPECT_LE(Given(out, static_cast<int>(p)), pools_[p].slots) << "pool " << p;
    }
    std::vector<double> used(teams_.size(), 0);
    for (size_t j = 0; j < jobs_.size(); ++j) {
      const int slots = CountSlots(out[j].slots);
      used[jobs_[j].team] += slots;
      EXPECT_LE(slots, jobs_[j].max) << "job " << j;
      for (const Slots& s : out[j].slots) EXPECT_TRUE(CouldUse(jobs_[j], s.pool)) << "job " << j << " pool " << s.pool;
      if (slots < jobs_[j].min && out[j].wait != Wait::kQuota) CheckNobodyBelow(out, j);
    }
    for (size_t t = 0; t < teams_.size(); ++t) EXPECT_LE(used[t], teams_[t].max_nodes) << "team " << t;
  }
  // Checks that a waiting job could not run even on all slots that are free or that jobs of lower priority have.
  void CheckNobodyBelow(const std::vector<Allotment>& out, size_t j) const {
    const bool gang = jobs_[j].min == jobs_[j].max && jobs_[j].min > 1;
    int together = 0;
    for (size_t p = 0; p < pools_.size(); ++p) {
      if (!CouldUse(jobs_[j], static_cast<int>(p))) continue;
      int room = pools_[p].slots - Given(out, static_cast<int>(p));
      for (size_t k = 0; k < jobs_.size(); ++k) {
        const bool mine = k == j, below = jobs_[k].priority < jobs_[j].priority;
        for (const Slots& s : out[k].slots) room += s.pool == static_cast<int>(p) && (mine || below) ? s.count : 0;
      }
      if (gang && pools_[p].ordered) {
        EXPECT_LT(room, jobs_[j].min) << "job " << j << " could run in pool " << p;
      } else {
        together += room;
      }
    }
    EXPECT_LT(together, jobs_[j].min) << "job " << j << " could run";
  }

  std::string Describe(const std::vector<Allotment>& out) const {
    std::string text = "pools";
    for (const Supply& p : pools_) absl::StrAppend(&text, " ", p.slots, p.ordered ? " to order" : "", " ", p.device);
    for (size_t j = 0; j < jobs_.size(); ++j) {
      const Demand& job = jobs_[j];
      absl::StrAppend(&text, "\njob ", j, " priority ", job.priority, " team ", job.team, " ", job.min, "..", job.max,
                      job.firm ? " runs" : "", job.on_demand ? "" : " spot", " ", job.device, ":");
      for (const Slots& s : out[j].slots) absl::StrAppend(&text, " ", s.count, " of ", s.pool);
    }
    return text + "\n";
  }

  unsigned long long seed_ = 0;
  std::mt19937_64 random_;
  Pools pools_;
  std::vector<Team> teams_;
  std::vector<Demand> jobs_;
};

TEST_F(Fleets, KeepTheirPromises) {
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    MakeFleet();
    std::vector<Allotment> out = ShareOut(pools_, teams_, jobs_);
    Check(out);
    for (int change = 0; change < 4; ++change) {
      // A slot that a cycle takes from one job may be of use to another job which that cycle had already served. So up
      // to two more cycles change allotments, and after that none changes.
      std::vector<Allotment> again = out;
      for (int settling = 0; settling < 3; ++settling) {
        out = again;
        Follow(out);
        again = ShareOut(pools_, teams_, jobs_);
        Check(again);
      }
      for (size_t j = 0; j < jobs_.size(); ++j) {
        if (!jobs_[j].firm) continue;
        EXPECT_EQ(again[j].slots, out[j].slots) << "job " << j << " moved\n" << Describe(out) << Describe(again);
      }
      const int p = Draw(0, static_cast<int>(pools_.size()) - 1);
      pools_[p].slots = std::max(Given(out, p), pools_[p].slots + Draw(-3, 6));
      jobs_.push_back(Waiting(Draw(1, 4), 4, Draw(0, 4), 0));
      out = ShareOut(pools_, teams_, jobs_);
      Check(out);
    }
  }
}

}  // namespace
}  // namespace rekindle::scheduler
