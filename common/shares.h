// Equal pieces of work over workers of unequal speed. Pure.
#ifndef REKINDLE_COMMON_SHARES_H_
#define REKINDLE_COMMON_SHARES_H_

#include <vector>

namespace rekindle::common {

// How many of `pieces` each worker does so that the last is done as early as possible, at least one each.
// `seconds`: of a piece, by worker. Among equals the first get the remainder.
// REQUIRES: 1 <= seconds.size() <= pieces, all seconds > 0.
std::vector<int> CutShares(const std::vector<double>& seconds, int pieces);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SHARES_H_
