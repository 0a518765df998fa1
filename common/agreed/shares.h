// Divides equal pieces of work among workers of unequal speed. The function is pure.
#ifndef REKINDLE_COMMON_AGREED_SHARES_H_
#define REKINDLE_COMMON_AGREED_SHARES_H_

#include <vector>

namespace rekindle::common {

// Returns how many of `pieces` each worker does so that the last one finishes as early as possible. Each does at least
// one. `seconds` is the time for one piece, by worker. Among equal workers the first ones get the remainder. REQUIRES:
// 1 <= seconds.size() <= pieces, and all seconds are > 0.
std::vector<int> CutShares(const std::vector<double>& seconds, int pieces);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_SHARES_H_
