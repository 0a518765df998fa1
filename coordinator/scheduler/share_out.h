// Who gets how many slots of which pool: many jobs, by priority, the shares of teams and their quotas.
//
// A slot holds one worker; pools count slots, not nodes, so the work grows with pools and jobs alone. In order of
// priority, then of what teams use for their share, then of submission, every job gets its minimum; then those of the
// highest priority more, one slot a round: the fastest that are there, then what costs least for the work of the job.
// What runs keeps what it has: only the minimum of a job of higher priority takes it away, first slots above others'
// minimum, then whole jobs, the lowest and newest first. A job that lost nodes and has less than its minimum left keeps
// these; it gets what is free before the others of its priority, and takes what newer ones like it have left, as else
// two could wait for each other for ever.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
#define REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_

#include <limits>
#include <string>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

struct Supply {  // Of one pool.
  Capacity capacity = Capacity::kSpot;
  bool ordered = false;  // Its nodes come when they are asked for; else those that are there are all.
  double price = 0;      // Of a slot.
  std::string device;    // Kind; empty: not known.
  int slots = 0;         // That could be had, those in use included.
  double nodes_per_slot = 1;
};

struct Team {
  double share = 1;
  double max_nodes = kNever;
};

inline constexpr int kUnlimited = std::numeric_limits<int>::max();

struct Slots {
  int pool = 0;
  int count = 0;
  bool operator==(const Slots&) const = default;
};
using SlotList = std::vector<Slots>;  // By pool, none of 0.

int CountSlots(const SlotList& slots);

struct Demand {
  int priority = 0;
  int team = 0;
  int min = 1;  // 0 of `max`: wants nothing.
  int max = 1;
  bool firm = false;  // It runs on what it holds.
  bool spot = true;   // Takes such nodes.
  bool on_demand = true;
  bool buys_on_demand = true;    // Such nodes may be ordered for it; else it takes those that are there.
  int max_ordered = kUnlimited;  // Slots of ordered pools.
  double most_price = kNever;    // Of a slot: where it costs more, the job keeps what it has and gets no more.
  std::string device;            // Wants this kind only; empty: any.
  std::vector<double> speeds;    // Of a slot, by pool; empty: they are alike.
  SlotList held;
};

inline double SpeedIn(const Demand& job, int pool) { return job.speeds.empty() ? 1 : job.speeds[pool]; }
// Is that pool of the kind of device that the job wants?
inline bool HasDevice(const Supply& pool, const Demand& job) { return job.device.empty() || job.device == pool.device; }
// The same, and does it cost no more than it may?
inline bool IsFor(const Supply& pool, const Demand& job) {
  return HasDevice(pool, job) && pool.price <= job.most_price;
}

enum class Wait {
  kNot,
  kCapacity,   // There is no room for its minimum.
  kQuota,      // Its team may not have more.
  kPreempted,  // It had room, and a job of higher priority took it.
};

struct Allotment {
  SlotList slots;
  Wait wait = Wait::kNot;
  int taken_by = kNone;  // The newest job that took slots of it.
};

// One for each job. Jobs are in order of submission. Never more than a pool has, but what is held already.
// REQUIRES: pools, teams and jobs that are named exist; min <= max.
std::vector<Allotment> ShareOut(const std::vector<Supply>& pools, const std::vector<Team>& teams,
                                const std::vector<Demand>& jobs);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
