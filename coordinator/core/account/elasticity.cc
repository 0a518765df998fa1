#include "coordinator/core/account/elasticity.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/account/costs.h"
#include "coordinator/core/choices/first_epoch.h"

namespace rekindle::core {

void CountStep(Turn& turn, Job& job) {
  CountCosts(turn, job);
  const SinceStep since = std::exchange(job.account.since_step, {});
  if (!job.active || since.hours <= 0 || MinWorkers(job) >= MaxWorkers(job)) return;
  // A job with `training.first_epoch: cpu` runs on CPUs in its first epoch. Its number of workers there does not tell
  // how many workers it will have on GPUs, so steps of the first epoch are not booked.
  if (IsInFirstEpoch(job)) return;
  v1::Cost* cost = CostOf(job);
  const int workers = std::min(job.record.membership().members_size(), MaxWorkers(job));
  if (workers > cost->most_workers()) {
    cost->set_fewer_spent(cost->fewer_spent() + cost->most_spent());
    cost->set_fewer_node_hours(cost->fewer_node_hours() + cost->most_node_hours());
    cost->clear_most_spent();
    cost->clear_most_node_hours();
    cost->set_most_workers(workers);
  }
  if (workers < cost->most_workers()) {
    cost->set_fewer_spent(cost->fewer_spent() + since.spent);
    cost->set_fewer_node_hours(cost->fewer_node_hours() + since.node_hours);
  } else {
    cost->set_most_spent(cost->most_spent() + since.spent);
    cost->set_most_node_hours(cost->most_node_hours() + since.node_hours);
  }
}

}  // namespace rekindle::core
