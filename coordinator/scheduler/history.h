// How long spot capacity stays and how long it stays away, learned while the job runs.
//
// Capacity that has just come is likelier to go than capacity that has been there for long, and so for its absence. So
// there are two classes of age, and a hazard (events an hour) of each, from what was seen and a prior that a few hours
// outweigh. Capacity is counted in slots: slot k of a pool is there when the pool has room for k + 1 units. The first
// slots of many are nearly always there and the last ones seldom, so each quarter of them has hazards of its own.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_
#define REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_

#include <array>
#include <cstddef>
#include <vector>

namespace rekindle::scheduler {

inline constexpr double kOldAfterHours = 1;

inline constexpr size_t kQuarters = 4;

enum Age { kYoung = 0, kOld = 1 };

// Of one slot: how often it is lost (up) and comes back (down), by age; and the share of losses with room in another
// pool.
struct Hazards {
  std::array<double, 2> lost{};
  std::array<double, 2> back{};
  double elsewhere = 0;
};

// Thread-compatible.
class SpotHistory {
 public:
  // `slots[p]`: units that would fit into spot pool p from `now` on; for on-demand pools nothing is learned (-1).
  // REQUIRES: as many pools each time, `now` does not go back.
  void Observe(const std::vector<int>& slots, int units, double now);

  // Of slot `slot`, here and below. REQUIRES: it is below the most `units` that were ever observed.
  Hazards Learned(int slot) const;
  // How long slot `slot` of the pool has been as it is.
  double Hours(int pool, int slot) const { return since_now_ - pools_[pool].since[slot]; }
  // Of slot `slot` over all pools together.
  Age AnyAge(int slot) const { return AgeOf(any_.since[slot]); }
  Age PoolAge(int pool, int slot) const { return AgeOf(pools_[pool].since[slot]); }

 private:
  struct Slots {
    int up = 0;                 // Slots below are there, the others not.
    std::vector<double> since;  // When each last changed.
  };
  struct Seen {
    double hours = 0;
    double events = 0;
  };

  Age AgeOf(double since) const { return since_now_ - since >= kOldAfterHours ? kOld : kYoung; }
  // Counts the time since the last look and what changed in it; which slots are counted: `up` or those away.
  void Count(const Slots& before, int now_up, double hours, bool up, std::vector<std::array<Seen, 2>>& seen);
  size_t Quarter(int slot) const { return kQuarters * slot / any_.since.size(); }
  void Change(Slots& slots, int up, double now);

  std::vector<Slots> pools_;
  Slots any_;
  std::vector<std::array<Seen, 2>> lost_;  // By quarter and age.
  std::vector<std::array<Seen, 2>> back_;
  int spot_pools_ = 0;
  double losses_ = 0;
  double losses_elsewhere_ = 0;
  double since_now_ = 0;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_HISTORY_H_
