#include "coordinator/scheduler/recovery.h"

#include <algorithm>
#include <cmath>

namespace rekindle::scheduler {
namespace {

constexpr size_t kKept = 40;
// A start is planned to take as long as the quantile `kQuantile` of the measured ones. A plan with their mean would be
// too short for many starts, and deadlines could be missed. A plan with the longest would follow a single bad start for
// as long as it is remembered. The quantile was chosen by hand, and no results with other values are recorded.
constexpr double kQuantile = 0.95;
// Until a start was measured, the stated time of a start is multiplied by `kUnmeasured`. This protects the deadline of
// a job whose stated time is too short: `scripts/bench fleet-robust` plays starts of twice the stated length, and no
// deadline was missed. The factor was chosen by hand, and no results with other values are recorded.
constexpr double kUnmeasured = 2;

}  // namespace

void Recovery::Started(double hours) {
  if (measured_.size() == kKept) measured_.erase(measured_.begin());
  measured_.push_back(hours);
  std::vector<double> sorted = measured_;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<size_t>(std::ceil(kQuantile * static_cast<double>(sorted.size())));
  start_ = sorted[rank - 1];
}

void Recovery::OnDemandWaited(double hours) { on_demand_wait_ = std::max(on_demand_wait_, hours); }

double Recovery::Start() const { return measured_.empty() ? kUnmeasured * stated_ : start_; }

double Recovery::Expected(double taken) const {
  const double planned = Start();
  return taken < planned ? planned : 2 * taken;
}

}  // namespace rekindle::scheduler
