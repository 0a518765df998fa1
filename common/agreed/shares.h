// Divides equal pieces of work among workers of unequal speed.
#ifndef REKINDLE_COMMON_AGREED_SHARES_H_
#define REKINDLE_COMMON_AGREED_SHARES_H_

#include <vector>

namespace rekindle::common {

// Returns how many of `pieces` each worker does so that the last worker finishes as early as possible. Each worker does
// at least one piece. The function is pure. `seconds` is the time for one piece, by worker. Among equally fast workers
// the first ones get the remainder. REQUIRES: 1 <= seconds.size() <= pieces, and all seconds are > 0.
std::vector<int> CutShares(const std::vector<double>& seconds, int pieces);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_SHARES_H_
