#include "coordinator/core/account/machine_costs.h"

#include <algorithm>

#include "coordinator/core/account/costs.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

// A part of a machine below `kNothing` counts as none, because parts are rounded.
constexpr double kNothing = 1e-9;

void Add(double part, double machines, double hours, double spent, v1::NeverRegistered* sum) {
  sum->set_machines(sum->machines() + part * machines);
  sum->set_node_hours(sum->node_hours() + part * hours);
  sum->set_spent(sum->spent() + part * spent);
}

}  // namespace

void SetParts(const State& state, const std::string& pool, v1::PoolRecord::Machine* machine) {
  double all = 0;
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    const auto waits =
        static_cast<double>(std::count_if(job.wishes.units.begin(), job.wishes.units.end(),
                                          [&](const Unit& unit) { return unit.pool == pool && !unit.placed; }));
    if (waits == 0) continue;
    v1::PoolRecord::Part* part = machine->add_parts();
    part->set_job(uid);
    part->set_part(waits);
    all += waits;
  }
  for (v1::PoolRecord::Part& part : *machine->mutable_parts()) part.set_part(part.part() / all);
}

void CountMachine(Turn& turn, PoolState& pool, double machines, v1::PoolRecord::Machine& machine) {
  State& state = turn.state;
  const double now = std::max(UnixNow(turn), machine.counted_until());
  const double hours = (now - machine.counted_until()) / kHour;
  const PoolPrices* prices = FindPool(state.prices, pool.record.name());
  const double spent = prices == nullptr ? 0 : CostBetween(prices->price, machine.counted_until(), now);
  machine.set_counted_until(now);
  turn.Save(pool);
  pool.record.set_row_spent(pool.record.row_spent() + spent);
  Add(1, machines, hours, spent, pool.record.mutable_never_registered());
  double of_nobody = 1;
  for (const v1::PoolRecord::Part& part : machine.parts()) {
    const auto job = state.jobs.find(part.job());
    if (job == state.jobs.end()) continue;
    of_nobody -= part.part();
    v1::Cost* cost = CostOf(job->second);
    cost->set_currency(state.prices.currency);
    Add(part.part(), machines, hours, spent, cost->mutable_never_registered());
    turn.Save(job->second);
    turn.Changed(job->second);
    state.unsettled.jobs.insert(part.job());
  }
  if (of_nobody > kNothing) Add(of_nobody, machines, hours, spent, pool.record.mutable_of_no_job());
}

}  // namespace rekindle::core
