// How micro-batches are cut over the members of a generation. Pure functions; rank = index.
#ifndef REKINDLE_COORDINATOR_CORE_RANGES_H_
#define REKINDLE_COORDINATOR_CORE_RANGES_H_

#include <utility>
#include <vector>

namespace rekindle::core {

// Fills unknown times (<= 0 or not finite) with the mean of the known ones; 1 when none is known.
std::vector<double> FillUnknownSeconds(std::vector<double> micro_batch_seconds);

// Contiguous ranges [begin, end) over 0..micro_batches-1 in rank order, sized by speed as the ranks themselves do it
// (common::CutShares). REQUIRES: 1 <= seconds.size() <= micro_batches, all seconds > 0.
std::vector<std::pair<int, int>> CutRanges(const std::vector<double>& seconds, int micro_batches);

struct Holding {
  std::vector<int> holds;  // Micro-batches it has or is computing for the interrupted step.
  int computed = 0;        // How many of those are done.
  double seconds = 1;      // A micro-batch.
};

// Drops from `holds` what is out of range or already held by a lower rank, and sorts it.
void MakeDisjoint(std::vector<Holding>& members, int micro_batches);

// Deals what nobody holds so that all finish at about the same time. With `holds` it makes a partition of
// 0..micro_batches-1. REQUIRES: disjoint holds, at least one member.
std::vector<std::vector<int>> DealAdds(const std::vector<Holding>& members, int micro_batches);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RANGES_H_
