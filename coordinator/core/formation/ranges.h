// Divides the micro-batches of a step among the members of a generation. The functions are pure, and a member's index
// is its rank.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_

#include <utility>
#include <vector>

namespace rekindle::core {

// Replaces unknown times of micro-batches (<= 0 or not finite) by the mean of the known ones, or by 1 when none is
// known.
std::vector<double> FillUnknownSeconds(std::vector<double> micro_batch_seconds);

// Returns contiguous ranges [begin, end) of 0..micro_batches-1 in rank order. Their sizes follow the speeds, exactly as
// when the ranks divide the micro-batches themselves (common::CutShares). REQUIRES: 1 <= seconds.size() <=
// micro_batches, and all seconds are > 0.
std::vector<std::pair<int, int>> CutRanges(const std::vector<double>& seconds, int micro_batches);

// Returns how many micro-batches the ranges of a generation divide that only saves the final state. It may have more
// members than a step has micro-batches, because members that must leave hand their shards on, and no range is empty.
int MicroBatchesToSave(int micro_batches, int members);

struct Holding {
  // `holds` are the micro-batches of the interrupted step that the member has computed or is computing.
  std::vector<int> holds;
  // `computed` says how many of the micro-batches in `holds` are computed already.
  int computed = 0;
  // `seconds` is how long the member takes for a micro-batch.
  double seconds = 1;
};

// Removes from each member's `holds` the micro-batches that are out of range or that a lower rank holds, and sorts the
// others.
void MakeDisjoint(std::vector<Holding>& members, int micro_batches);

// Distributes among the members the micro-batches that nobody holds, so that all members finish at about the same time.
// Together with `holds` the result is a partition of 0..micro_batches-1. REQUIRES: no two members hold the same
// micro-batch, and there is at least one member.
std::vector<std::vector<int>> DealAdds(const std::vector<Holding>& members, int micro_batches);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_RANGES_H_
