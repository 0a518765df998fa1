#include "coordinator/core/account/absence.h"

#include <algorithm>

#include "coordinator/core/account/charged_nodes.h"
#include "coordinator/core/account/charges.h"
#include "coordinator/core/account/costs.h"

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
  turn.Save(job);
}
// Returns which part of the node no job has slots of.
double FreePart(const State& state, const std::string& name) {
  const auto node = state.nodes.find(name);
  if (node == state.nodes.end()) return 1;
  return 1 - static_cast<double>(node->second.slots.size()) / std::max(1, node->second.record.slots());
}

// Charges the job for the nodes that it gave up in the turn before. No agent knew that while the turn could not be
// saved, so agents may have run trainers of the job all that time. Whoever has got the slots since pays for them.
void ChargeForGivenUp(const State& state, Job& job, double since, double now) {
  for (Charged node : job.account.given_up) {
    node.set_part(std::min(node.part(), FreePart(state, node.node())));
    if (node.until() == 0) node.set_until(job.record.granted_until());
    ChargeFor(state, job, node, since, std::min(now, EndsBy(state, node)), /*heard=*/true);
  }
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
  ChargeForGivenUp(turn.state, job, since, now);
  v1::Cost* cost = CostOf(job);
  cost->set_until(now);
  if (!job.record.held_nodes().empty()) cost->set_hours(cost->hours() + (now - since) / kHour);
  turn.Save(job);
}
void FollowClock(const Turn& turn, double step, Job& job) {
  if (step == 0 || !MayBeCharged(job)) return;
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
