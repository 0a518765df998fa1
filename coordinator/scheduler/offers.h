// Room in pools, while a plan is made.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_
#define REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_

#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Lives as long as the views it was made from. Thread-compatible.
class Offers {
 public:
  Offers(const JobView& job, const std::vector<PoolView>& pools);

  const PoolView& pool(int p) const { return pools_[p]; }
  bool OnDemand(int p) const { return p != kNone && pools_[p].capacity == Capacity::kOnDemand; }
  bool Spot(int p) const { return p != kNone && pools_[p].capacity == Capacity::kSpot; }
  bool HasRoom(int p) const { return used_[p] < slots_[p]; }
  // Units there, with this plan's changes.
  int Used(int p) const { return used_[p]; }
  int UsedSpot() const;
  void Move(int from, int to);

  // The spot pool with room that costs least; of equal ones that whose next slot has been there longest, so that a zone
  // that just failed is avoided for a while. With `premium`, of those at most so much dearer the cleanest. kNone: none.
  int BestSpot(double premium) const;
  // The cheapest on-demand pool with room, about that fast where there is one. kNone: none.
  int BestOnDemand(double speed) const;
  // Of the allowed pools with room that are about as fast as the fastest of them (kAsFast): spot, the cheapest, as
  // above, else on demand. kNone: none.
  int Fastest(Allowed allowed) const;
  // Whether there is a spot pool, room or not.
  bool AnySpot() const;
  // The lowest price of a kind, room or not; 0: there is no such pool.
  double LowestPrice(Capacity capacity) const;

 private:
  const JobView& job_;
  const std::vector<PoolView>& pools_;
  std::vector<int> slots_;
  std::vector<int> used_;
};

// How many units fit into each spot pool; -1 for on-demand pools: what SpotHistory::Observe wants.
std::vector<int> SpotSlots(const std::vector<PoolView>& pools, int unit_nodes);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_OFFERS_H_
