// This file learns, while the job runs, how long spot capacity stays and how long it stays away.
//
// Capacity that has just come is more likely to go than capacity that has been there for long. The same is true of its
// absence. So there are two classes of age, and each has a hazard (events an hour) computed from what was seen and a
// prior that a few hours outweigh. Capacity is counted in slots: slot k of a pool is there when the pool has room for k
// + 1 units. The first slots of many are nearly always there and the last ones seldom are, so each quarter of the slots
// has its own hazards.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_
#define REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_

#include <array>
#include <cstddef>
#include <vector>

namespace rekindle::scheduler {

// Capacity counts as old when it has been there, or away, for `kOldAfterHours` hours. A planner that knew one age alone
// would trust capacity that has just come as much as capacity that has been there all day. The hour was chosen by hand,
// and no results with other values are recorded.
inline constexpr double kOldAfterHours = 1;

// The slots are parted into `kQuarters` groups with hazards of their own. One group would give the last slots the
// hazards of the first ones, which are there nearly always, and a group for each slot would see too few events to learn
// from. The number is a part of the planner's structure, which was chosen while looking at the public traces
// (docs/benchmarks.md). No results with other numbers are recorded.
inline constexpr size_t kQuarters = 4;

enum Age { kYoung = 0, kOld = 1 };

// Hazards say how often one slot is lost while it is there, and how often it comes back while it is away, by age.
// `elsewhere` is the share of losses during which another pool had room.
struct Hazards {
  std::array<double, 2> lost{};
  std::array<double, 2> back{};
  double elsewhere = 0;
};

// A SpotHistory is thread-compatible.
class SpotHistory {
 public:
  // Records that `slots[p]` units would fit into spot pool p from `now` on. Nothing is learned about on-demand pools,
  // which have -1.
  //
  // REQUIRES: the number of pools is the same each time, and `now` does not go back.
  void Observe(const std::vector<int>& slots, int units, double now);

  // Returns what was learned about slot `slot`. REQUIRES, for this function and those below: `slot` is less than the
  // largest `units` that was ever passed to Observe.
  Hazards Learned(int slot) const;
  // Returns for how many hours slot `slot` of the pool has been there, or has been away.
  double Hours(int pool, int slot) const { return since_now_ - pools_[pool].since[slot]; }
  // Returns the age of slot `slot` of all pools together. It is there while they have room for `slot` + 1 units in sum.
  Age AnyAge(int slot) const { return AgeOf(any_.since[slot]); }
  Age PoolAge(int pool, int slot) const { return AgeOf(pools_[pool].since[slot]); }

 private:
  struct Slots {
    // Slots with an index below `up` are there, and the others are away.
    int up = 0;
    // `since` holds the time at which each slot last changed.
    std::vector<double> since;
  };
  struct Seen {
    double hours = 0;
    double events = 0;
  };

  Age AgeOf(double since) const { return since_now_ - since >= kOldAfterHours ? kOld : kYoung; }
  // Adds to `seen` the hours since the last observation, and the slots that changed in them. If `up` is true, it does
  // so for the slots that were there, and otherwise for those that were away.
  void Count(const Slots& before, int now_up, double hours, bool up, std::vector<std::array<Seen, 2>>& seen);
  size_t Quarter(int slot) const { return kQuarters * slot / any_.since.size(); }
  void Change(Slots& slots, int up, double now);

  std::vector<Slots> pools_;
  Slots any_;
  // `lost_` holds how often slots were lost in how many hours, and `back_` how often they came back. Both are indexed
  // by quarter and age.
  std::vector<std::array<Seen, 2>> lost_;
  std::vector<std::array<Seen, 2>> back_;
  int spot_pools_ = 0;
  double losses_ = 0;
  double losses_elsewhere_ = 0;
  double since_now_ = 0;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_
