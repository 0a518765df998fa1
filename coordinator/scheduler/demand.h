// This file holds the values from which ShareOut computes how many slots each job gets: the supply of each pool, the
// share of each team and the demand of each job.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_DEMAND_H_
#define REKINDLE_COORDINATOR_SCHEDULER_DEMAND_H_

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Says which jobs can run somewhere with regard to code of their own: only jobs without such code, also those that name
// the interpreter of their code, or all jobs.
enum class OwnCode { kNone, kWithInterpreter, kAny };

// A Supply describes one pool.
struct Supply {
  Capacity capacity = Capacity::kSpot;
  // `ordered` says that nodes come when they are asked for. Otherwise the pool has only the nodes that came by
  // themselves.
  bool ordered = false;
  // `price` is the price of one slot.
  double price = 0;
  // `device` is the kind of device. It is empty where that is not known.
  std::string device;
  // `slots` counts the slots that jobs can have in the pool, including those in use.
  int slots = 0;
  double nodes_per_slot = 1;
  // `runs` says which jobs the pool's nodes can run.
  OwnCode runs = OwnCode::kAny;
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

inline int CountSlots(const SlotList& slots) {
  return std::accumulate(slots.begin(), slots.end(), 0, [](int sum, const Slots& s) { return sum + s.count; });
}

struct Demand {
  int priority = 0;
  int team = 0;
  // The job wants at least `min` and at most `max` slots. Both are 0 where it wants nothing.
  int min = 1;
  int max = 1;
  // `firm` says that the job runs, or could run, on the slots that it holds. It keeps them before others get slots.
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
  // The job can run where a pool's `runs` is at least `needs`.
  OwnCode needs = OwnCode::kNone;
  // `speeds` holds the speed of a slot for each pool. It is empty where all pools are equally fast for the job.
  std::vector<double> speeds;
  SlotList held;
};

inline double SpeedIn(const Demand& job, int pool) { return job.speeds.empty() ? 1 : job.speeds[pool]; }
// Returns whether the pool's nodes have the kind of device that the job wants, and run its code.
inline bool CanRun(const Supply& pool, const Demand& job) {
  return (job.device.empty() || job.device == pool.device) && job.needs <= pool.runs;
}
// Returns whether the pool's nodes can run the job, and cost no more than it may pay.
inline bool IsFor(const Supply& pool, const Demand& job) { return CanRun(pool, job) && pool.price <= job.most_price; }

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_DEMAND_H_
