#include "coordinator/core/charges/charges.h"

#include <algorithm>

#include "common/agreed/agreed_limits.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/account/emissions.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {

Charged DescribeCharged(std::string_view name, const NodeState& node, double part) {
  Charged charged;
  charged.set_node(std::string(name));
  charged.set_incarnation(node.record.incarnation());
  charged.set_hardware(node.report.machine().hardware());
  charged.set_pool(node.record.pool());
  charged.set_part(part);
  return charged;
}

bool IsSameNode(const Charged& charged, const NodeState& node) {
  return charged.incarnation() == node.record.incarnation() ||
         (!charged.hardware().empty() && charged.hardware() == node.report.machine().hardware());
}
double HeldPart(const Job& job, const std::string& node) {
  double part = 0;
  for (const Charged& held : job.record.held_nodes()) part += held.node() == node ? held.part() : 0;
  return part;
}
double RunningPart(const NodeState& node, const std::string& job_uid) {
  const auto& trainers = node.report.trainers();
  const auto runs = std::count_if(trainers.begin(), trainers.end(), [&](const v1::TrainerProcess& process) {
    return process.running() && process.job_uid() == job_uid;
  });
  return static_cast<double>(runs) / std::max(1, node.record.slots());
}
double EndsBy(const State& state, const Charged& held) {
  return held.until() > 0 && IsOrdered(state.prices, held.pool()) ? held.until() + common::kMachineEndSeconds : kNever;
}
void ChargeFor(const State& state, Job& job, const Charged& node, double from, double until, bool heard) {
  v1::Cost* cost = CostOf(job);
  const double before = cost->spent();
  AddCost(state, {{node.pool(), node.part()}}, NodeWatts(job), from, until, cost);
  if (!heard) cost->set_unheard(cost->unheard() + cost->spent() - before);
}
void WakeAtEnds(Turn& turn, Job& job) {
  const double now = UnixNow(turn), offset = turn.state.wall_offset;
  const auto wake = [&](double end) {
    if (end > now && end != kNever) turn.Wake(job, end - offset);
  };
  for (const Charged& held : job.record.held_nodes()) wake(EndsBy(turn.state, held));
  for (const Charged& lost : job.record.lost_nodes()) wake(lost.until());
}
}  // namespace rekindle::core
