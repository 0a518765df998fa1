#include "coordinator/scheduler/green.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"

namespace rekindle::scheduler {
namespace {

// A move that is made only for lower emissions must bring them below `kMuchCleaner` times the present ones. Emissions
// change from hour to hour, and without that distance a job would pay for a start whenever two pools change places. The
// factor was chosen by hand, and no results with other values are recorded.
constexpr double kMuchCleaner = 0.8;

// Returns whether one more start of every unit, in addition to the starts so far, stays within the premium by which a
// `kGreenest` job may cost more.
bool MayStartAgain(const JobView& job, const Policy& policy) {
  const double units = static_cast<double>(job.units.size());
  // The cheapest plan, to which the premium is relative, starts one node once.
  const double extra = job.starts + units - 1;
  return extra * job.recovery.Start() <= policy.green_premium * job.total_hours * units;
}

bool AnyRuns(const JobView& job) {
  return std::any_of(job.units.begin(), job.units.end(), [](const UnitView& u) { return u.pool != kNone; });
}

}  // namespace

bool WaitForCleanerHour(const JobView& job, const Offers& offers, const Policy& policy, double slack,
                        std::string* why) {
  const int best = offers.BestSpot(policy.green_premium);
  int at = best;
  for (const UnitView& unit : job.units) {
    if (unit.pool != kNone) at = unit.pool;
  }
  if (at == kNone || job.deadline == kNever) return false;
  const PoolView& pool = offers.pool(at);
  if (pool.expected_grams.empty()) return false;
  const bool running = AnyRuns(job);
  const double start = job.recovery.Start();
  if (running && !MayStartAgain(job, policy)) return false;
  // The job may work in all hours before the deadline, less one start in reserve. If it stops now, it has to start
  // again later, so `need` is the work left and one start. Without this start in `need`, a running job would stop, and
  // then want to go on at once.
  const double need = job.hours_left / pool.speed + start;
  const double window = job.hours_left + slack - start;
  const auto hours =
      std::min<size_t>(pool.expected_grams.size(), static_cast<size_t>(std::max(0.0, std::floor(window))));
  if (static_cast<double>(hours) < need + 1) return false;
  std::vector<double> sorted(pool.expected_grams.begin(), pool.expected_grams.begin() + hours);
  std::sort(sorted.begin(), sorted.end());
  const double limit = sorted[std::min(hours - 1, static_cast<size_t>(std::ceil(need)) - 1)];
  if (pool.grams <= limit) return false;
  *why = absl::StrFormat(
      "%.0f h before the deadline are expected to be cleaner: %.0f g/h in %s now, at most %.0f g/h then",
      std::ceil(need), pool.grams * pool.speed, pool.name, limit * pool.speed);
  return true;
}

bool MoveIsGreener(const JobView& job, const PoolView& from, const PoolView& to, const Policy& policy) {
  return to.grams < kMuchCleaner * from.grams && to.price <= (1 + policy.green_premium) * from.price &&
         MayStartAgain(job, policy);
}

}  // namespace rekindle::scheduler
