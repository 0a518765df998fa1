// Cuts the micro-batches of a step over the members of a generation. The functions are pure, and a member's index is
// its rank.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_

#include <utility>
#include <vector>

namespace rekindle::core {

// Fills unknown times (<= 0 or not finite) with the mean of the known ones, or with 1 when none is known.
std::vector<double> FillUnknownSeconds(std::vector<double> micro_batch_seconds);

// Returns contiguous ranges [begin, end) of 0..micro_batches-1 in rank order. Their sizes follow the speeds exactly as
// the ranks cut them themselves (common::CutShares). REQUIRES: 1 <= seconds.size() <= micro_batches, and all seconds
// are > 0.
std::vector<std::pair<int, int>> CutRanges(const std::vector<double>& seconds, int micro_batches);

struct Holding {
  // `holds` are the micro-batches of the interrupted step that the member has computed or is computing.
  std::vector<int> holds;
  // `computed` says how many of those are done.
  int computed = 0;
  double seconds = 1;  // Per micro-batch.
};

// Drops from `holds` what is out of range or already held by a lower rank, and sorts the rest.
void MakeDisjoint(std::vector<Holding>& members, int micro_batches);

// Deals the micro-batches that nobody holds, so that all members finish at about the same time. Together with `holds`
// the result is a partition of 0..micro_batches-1. REQUIRES: no two members hold the same one, and there is at least
// one member.
std::vector<std::vector<int>> DealAdds(const std::vector<Holding>& members, int micro_batches);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_
