#include "coordinator/core/charges/absence.h"

#include <algorithm>

#include "coordinator/core/account/costs.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/charges/charges.h"

namespace rekindle::core {
namespace {

void MoveGrants(const Turn& turn, double step, Job& job) {
  job.account.charged_for.clear();
  v1::JobRecord& record = job.record;
  if (record.granted_until() > 0) record.set_granted_until(std::max(1.0, record.granted_until() + step));
  for (auto* nodes : {record.mutable_held_nodes(), record.mutable_lost_nodes()}) {
    for (Charged& node : *nodes) {
      if (node.until() > 0) node.set_until(std::max(1.0, node.until() + step));
    }
  }
  for (Charged& node : *record.mutable_given_up_nodes()) {
    if (node.until() > 0) node.set_until(std::max(1.0, node.until() + step));
    node.set_since(std::max(1.0, node.since() + step));
  }
  turn.Save(job);
}
}  // namespace

void CountAbsence(Turn& turn, Job& job) {
  const double since = job.record.job().status().cost().until(), now = UnixNow(turn);
  job.account.counted_until = now;
  // If the job's costs are counted up to a time that is later than now, the clock of this machine was set back after
  // they were counted.
  if (since > now) {
    MoveGrants(turn, now - since, job);
    CostOf(job)->set_until(now);
  }
  if (since <= 0 || since >= now) return;
  job.account.charged_for.clear();
  for (const Charged& lost : job.record.lost_nodes()) {
    ChargeFor(turn.state, job, lost, since, lost.until() > 0 ? std::min(lost.until(), now) : now, /*heard=*/false);
  }
  for (Charged& held : *job.record.mutable_held_nodes()) {
    if (held.until() == 0) held.set_until(job.record.granted_until());
    ChargeFor(turn.state, job, held, since, std::min(now, EndsBy(turn.state, held)), /*heard=*/true);
  }
  v1::Cost* cost = CostOf(job);
  cost->set_until(now);
  if (!job.record.held_nodes().empty()) cost->set_hours(cost->hours() + (now - since) / kHour);
  turn.Save(job);
}
void FollowClock(const Turn& turn, double step, Job& job) {
  if (step == 0) return;
  if (job.record.host_until() > 0) {
    job.record.set_host_until(job.record.host_until() + step);
    turn.Save(job);
  }
  if (!MayBeCharged(job)) return;
  job.account.counted_until += step;
  // The job's record is saved, because a coordinator that is restarted reads the times in it by the new setting of the
  // machine's clock.
  turn.Save(job);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (status->submitted_at() > 0) status->set_submitted_at(status->submitted_at() + step);
  v1::Cost* cost = CostOf(job);
  if (cost->until() > 0) cost->set_until(cost->until() + step);
  MoveGrants(turn, step, job);
}
}  // namespace rekindle::core
