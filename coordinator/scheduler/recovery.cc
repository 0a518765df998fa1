#include "coordinator/scheduler/recovery.h"

#include <algorithm>
#include <cmath>

namespace rekindle::scheduler {
namespace {

constexpr size_t kKept = 40;
constexpr double kQuantile = 0.95;
// Until a start was measured, the stated time of a start is multiplied by `kUnmeasured`.
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
