// Models the users of jobs that were stopped by their budgets. After a while each user raises the budget.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// A user notices within `kLongestThought` seconds that a job was stopped.
constexpr double kLongestThought = 15;
constexpr double kAgainSeconds = 2;
constexpr int kMoreEach = 5;
// Once the faults have stopped, the user adds the cost of `kEnough` seconds to the budget, so that the job can end.
constexpr double kEnough = 3600;

}  // namespace

void SimCluster::FollowBudget(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record) {
  if (record.budget_stop().empty() || !before.budget_stop().empty()) return;
  tally_.Count(Fault::kBudgetStops);
  if (std::exchange(job.bill.stopped, true)) return;
  queue_.At(queue_.now() + chance_.Uniform(1, kLongestThought), [this, &job] { RaiseBudget(job, 0); });
}

// Raises the budget again and again, as users do, until the coordinator has accepted that. If the job still does not go
// on, the user raises the budget further.
void SimCluster::RaiseBudget(SimJob& job, int times) {
  const v1::JobRecord& record = records_[job.uid];
  if (record.budget_stop().empty()) {
    tally_.Count(Fault::kBudgetRaised);
    job.bill.stopped = false;
    return;
  }
  queue_.At(queue_.now() + kAgainSeconds, [this, &job, times] { RaiseBudget(job, times + 1); });
  if (!coordinator_up_) return;
  if (times % kMoreEach == 0) {
    double dearest = 0;
    for (const auto& [name, pool] : pools_) dearest = std::max(dearest, pool.prices.back().price);
    const double seconds = lossy_ ? chance_.Uniform(90, 300) : kEnough;
    const double more = std::max(1, job.options.min) * dearest * seconds / kHour;
    job.bill.budget = std::max(job.bill.budget, record.job().status().cost().spent()) + more;
  }
  Note(absl::StrFormat("the user of %s allows %.5f", job.uid, job.bill.budget));
  job.paused = false;
  Feed(ResumeJob{.uid = job.uid, .budget = job.bill.budget});
}

}  // namespace rekindle::core::simulation
