#include "tests/simulation/users/budgets.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace rekindle::core::simulation {
namespace {

// A user notices within `kLongestThought` seconds that a job was stopped.
constexpr double kLongestThought = 15;
constexpr double kAgainSeconds = 2;
constexpr int kMoreEach = 5;
// Once the faults have stopped, the user adds the cost of `kEnough` seconds to the budget, so that the job can end.
constexpr double kEnough = 3600;

}  // namespace

void Budgets::JobSaved(const SimJob& saved, const v1::JobRecord& before, const v1::JobRecord& now) {
  if (now.budget_stop().empty() || !before.budget_stop().empty()) return;
  world_.journal.Count(Fault::kBudgetStops);
  SimJob& job = world_.jobs.at(saved.uid);
  if (std::exchange(job.stopped, true)) return;
  world_.After(world_.chance.Uniform(1, kLongestThought), [this, &job] { Raise(job, 0); });
}

void Budgets::Raise(SimJob& job, int times) {
  const v1::JobRecord& record = coordinator_.records().jobs.at(job.uid);
  if (record.budget_stop().empty()) {
    world_.journal.Count(Fault::kBudgetRaised);
    job.stopped = false;
    return;
  }
  world_.After(kAgainSeconds, [this, &job, times] { Raise(job, times + 1); });
  if (!coordinator_.is_up()) return;
  if (times % kMoreEach == 0) {
    double dearest = 0;
    for (const auto& [name, pool] : world_.pools) dearest = std::max(dearest, pool.prices.back().price);
    const double seconds = world_.chaos ? world_.chance.Uniform(90, 300) : kEnough;
    const double more = std::max(1, job.options.min) * dearest * seconds / kHour;
    job.budget = std::max(job.budget, record.job().status().cost().spent()) + more;
  }
  world_.journal.Note(absl::StrFormat("the user of %s allows %.5f", job.uid, job.budget));
  job.paused = false;
  coordinator_.Feed(ResumeJob{.uid = job.uid, .budget = job.budget});
}

}  // namespace rekindle::core::simulation
