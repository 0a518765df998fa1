// This file keeps track of the room in pools while a plan is made.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_
#define REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_

#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// An Offers object must not outlive the views that it was made from. It is thread-compatible.
class Offers {
 public:
  Offers(const JobView& job, const std::vector<PoolView>& pools);

  const PoolView& pool(int p) const { return pools_[p]; }
  bool OnDemand(int p) const { return p != kNone && pools_[p].capacity == Capacity::kOnDemand; }
  bool Spot(int p) const { return p != kNone && pools_[p].capacity == Capacity::kSpot; }
  bool HasRoom(int p) const { return used_[p] < slots_[p]; }
  // Returns how many units are in the pool after the changes that the plan has made so far.
  int Used(int p) const { return used_[p]; }
  int UsedSpot() const;
  void Move(int from, int to);

  // Returns the spot pool with room that costs least. Among equally cheap ones it is the one whose next slot has been
  // there longest, so that a zone that just failed is avoided for a while. With a `premium` above 0 it is the cleanest
  // of the pools that cost at most that share more than the cheapest. Returns `kNone` where no spot pool has room.
  int BestSpot(double premium) const;
  // Returns the cheapest on-demand pool with room, and prefers pools that are about as fast as `speed`. Returns `kNone`
  // where no on-demand pool has room.
  int BestOnDemand(double speed) const;
  // Looks at the allowed pools with room that are about as fast as the fastest of them (see kAsFast). Returns the
  // cheapest spot pool of these, or else the cheapest on-demand pool. Returns `kNone` where no allowed pool has room.
  int Fastest(Allowed allowed) const;
  // Returns whether there is a spot pool, with or without room.
  bool AnySpot() const;
  // Returns the lowest price of the pools with the given capacity, with or without room. Returns 0 where there is no
  // such pool.
  double LowestPrice(Capacity capacity) const;

 private:
  const JobView& job_;
  const std::vector<PoolView>& pools_;
  std::vector<int> slots_;
  std::vector<int> used_;
};

// Returns how many units fit into each spot pool, and -1 for on-demand pools, as SpotHistory::Observe expects it.
std::vector<int> SpotSlots(const std::vector<PoolView>& pools, int unit_nodes);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_
