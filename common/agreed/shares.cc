#include "common/agreed/shares.h"

#include <functional>
#include <queue>
#include <utility>

namespace rekindle::common {

std::vector<int> CutShares(const std::vector<double>& seconds, int pieces) {
  // Each further piece goes to the worker that would finish it first. A worker's time is a product and not a running
  // sum, so that the times of equally fast workers stay equal.
  using Done = std::pair<double, size_t>;
  std::priority_queue<Done, std::vector<Done>, std::greater<>> first;
  std::vector<int> shares(seconds.size(), 1);
  for (size_t i = 0; i < seconds.size(); ++i) first.emplace(2 * seconds[i], i);
  for (int dealt = static_cast<int>(seconds.size()); dealt < pieces; ++dealt) {
    const size_t worker = first.top().second;
    first.pop();
    ++shares[worker];
    first.emplace((shares[worker] + 1) * seconds[worker], worker);
  }
  return shares;
}

}  // namespace rekindle::common
