// This file decides which job gets how many slots of which pool, by priority and by the shares and quotas of teams.
//
// A slot holds one worker. Pools count slots, not nodes, so the effort grows only with the number of pools and jobs.
// First every job gets its minimum. The order is by priority, then by what the team uses relative to its share, then by
// submission. After that the jobs of the highest priority grow, one slot a round: first on the fastest slots that are
// there, then on the slots where the work of the job costs least. A job that runs keeps what it has. Only the minimum
// of a job of higher priority takes slots away: first those above the minimums of other jobs, then whole jobs,
// beginning with the lowest priority and the newest. A job that lost nodes and has less than its minimum keeps the
// rest. It gets free slots before the other jobs of its priority, and it takes what newer jobs in the same state have
// left. Otherwise two such jobs could wait for each other for ever.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
#define REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_

#include <limits>
#include <string>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// A Supply describes one pool.
struct Supply {
  Capacity capacity = Capacity::kSpot;
  // `ordered` says that nodes come when they are asked for. Otherwise only the nodes that are there already exist.
  bool ordered = false;
  // `price` is the price of one slot.
  double price = 0;
  // `device` is the kind of device. It is empty where that is not known.
  std::string device;
  // `slots` counts the slots that could be had, including those in use.
  int slots = 0;
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
// A SlotList is sorted by pool and has no entry with a count of 0.
using SlotList = std::vector<Slots>;

int CountSlots(const SlotList& slots);

struct Demand {
  int priority = 0;
  int team = 0;
  // A `min` of 0 together with a `max` of 0 means that the job wants nothing.
  int min = 1;
  int max = 1;
  // `firm` says that the job runs on what it holds.
  bool firm = false;
  // `spot` says that the job takes spot nodes.
  bool spot = true;
  // `on_demand` says that the job takes on-demand nodes.
  bool on_demand = true;
  // `buys_on_demand` says that on-demand nodes may be ordered for the job. Otherwise it takes only those that are
  // there.
  bool buys_on_demand = true;
  // `max_ordered` limits the job's slots in ordered pools.
  int max_ordered = kUnlimited;
  // Where a slot costs more than `most_price`, the job keeps the slots that it has and gets no more.
  double most_price = kNever;
  // `device` is the only kind of device that the job takes. It is empty where the job takes any.
  std::string device;
  // `speeds` holds the speed of a slot for each pool. It is empty where all pools are equally fast for the job.
  std::vector<double> speeds;
  SlotList held;
};

inline double SpeedIn(const Demand& job, int pool) { return job.speeds.empty() ? 1 : job.speeds[pool]; }
// Returns whether the pool has the kind of device that the job wants.
inline bool HasDevice(const Supply& pool, const Demand& job) { return job.device.empty() || job.device == pool.device; }
// Returns whether the pool has the right kind of device and costs no more than the job may pay.
inline bool IsFor(const Supply& pool, const Demand& job) {
  return HasDevice(pool, job) && pool.price <= job.most_price;
}

enum class Wait {
  kNot,
  // No pool has room for the job's minimum.
  kCapacity,
  // The job's team may not have more nodes.
  kQuota,
  // The job had room, and a job of higher priority took it.
  kPreempted,
};

struct Allotment {
  SlotList slots;
  Wait wait = Wait::kNot;
  // `taken_by` is the last job that took slots from this one.
  int taken_by = kNone;
};

// Returns one allotment for each job. `jobs` must be in order of submission. No pool is given out beyond its slots,
// except for what jobs hold already.
//
// REQUIRES: all pools, teams and jobs that are named exist, and `min` <= `max` for each job.
std::vector<Allotment> ShareOut(const std::vector<Supply>& pools, const std::vector<Team>& teams,
                                const std::vector<Demand>& jobs);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
