#include "tests/simulation/checks/bills.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

// A job may exceed its budget by what its nodes cost in `kPlanningSeconds`.
constexpr double kPlanningSeconds = 60;
// A process that is asked to stop as it starts may run for `kSlow` seconds.
constexpr double kSlow = 1.5;
// At most a share of `kGrantedPart` of a budget is granted in advance, at the price that holds when it is granted.
constexpr double kGrantedPart = 0.25;

}  // namespace

void BillCheck::CoordinatorStarts() {
  // If the clock was set while the coordinator was away, it cannot tell the jump of the clock from the time that has
  // passed. The same holds if it was told of the jump and was killed before it saved that.
  const double unsure = coordinator_.clock().SetWhileAway();
  for (const auto& [uid, job] : world_.jobs) bills_[uid].unsure += unsure;
  for (const auto& [uid, record] : coordinator_.records().jobs) NoteBill(record);
}

void BillCheck::JobSaved(const SimJob& job, const v1::JobRecord& /*before*/, const v1::JobRecord& now) {
  Bill& bill = bills_[job.uid];
  const bool ends = !bill.over && IsOver(now);
  if (ends) {
    CountAllRan();
    NoteBill(now);
  }
  bill.over = IsOver(now);
  // While the database could not be written, nobody could be told that the job is over. The next turn charges for that
  // time.
  const bool rest_comes = coordinator_.clock().OwesStandstill();
  const bool is_final = (ends || bill.rest_comes) && !rest_comes;
  bill.rest_comes = (ends || bill.rest_comes) && rest_comes;
  if (world_.pools.empty()) return;
  if (is_final) CheckFinal(job, bill, now);
  if (job.budget > 0) CheckBudget(job, bill, now);
}

void BillCheck::TurnSaved(const Effects& effects) {
  if (world_.pools.empty()) return;
  for (const v1::JobRecord& job : effects.save_jobs) NotePayers(job);
}

void BillCheck::ProcessStarted(const Process& process) {
  if (PoolOf(process) == nullptr) return;
  ++bills_[process.job->uid].processes;
  // An agent that cannot be heard restarts a trainer of the job that had the slot when the agent was heard last.
  charges_[process.id] = {.counted_until = world_.now(), .is_paid_by_others = IsPaidByOthers(process)};
}

void BillCheck::NoteBill(const v1::JobRecord& record) {
  const v1::Cost& cost = record.job().status().cost();
  if (cost.node_hours() <= 0) return;
  journal_.Note(absl::StrFormat("%.5f are spent for %s until %.3f, %d nodes held and %d lost", cost.spent(),
                                record.job().uid(), cost.until() - coordinator_.clock().wall_offset(),
                                record.held_nodes_size(), record.lost_nodes_size()));
}

const SimPool* BillCheck::PoolOf(const Process& process) const {
  const auto pool = world_.pools.find(world_.nodes.at(process.node).pool);
  return pool == world_.pools.end() ? nullptr : &pool->second;
}

void BillCheck::CountRan(const Process& process) {
  const auto found = charges_.find(process.id);
  if (!process.alive || found == charges_.end()) return;
  Charge& charge = found->second;
  const double seconds = world_.now() - charge.counted_until;
  charge.counted_until = world_.now();
  if (charge.is_paid_by_others) return;
  Bill& bill = bills_[process.job->uid];
  const SimPool& pool = *PoolOf(process);
  if (!bill.over) bill.ran += seconds * pool.least_price / pool.options.slots / kHour;
}

void BillCheck::CountAllRan() {
  for (const auto& [id, process] : world_.processes) CountRan(process);
}

bool BillCheck::IsPaidByOthers(const Process& process) const {
  constexpr double kRounding = 1e-6;
  const SimNode& node = world_.nodes.at(process.node);
  double others = 0, own = 0;
  for (const auto& [uid, record] : coordinator_.records().jobs) {
    if (uid == process.job->uid) continue;
    for (const auto* charged : {&record.held_nodes(), &record.lost_nodes()}) {
      for (const auto& one : *charged) others += one.node() == node.name ? one.part() : 0;
    }
  }
  for (const SimSlot& slot : node.slots) {
    own += !slot.process.empty() && world_.processes.at(slot.process).job == process.job;
  }
  return others > 1 - own / static_cast<double>(node.slots.size()) + kRounding;
}

void BillCheck::NotePayers(const v1::JobRecord& record) {
  for (const auto& held : record.held_nodes()) {
    const auto node = world_.nodes.find(held.node());
    if (node == world_.nodes.end()) continue;
    for (const Process* process : world_.Running(node->second)) {
      const auto charge = charges_.find(process->id);
      const bool may_be = charge != charges_.end() && !process->is_known && process->job->uid != record.job().uid();
      if (may_be && IsPaidByOthers(*process)) charge->second.is_paid_by_others = true;
    }
  }
}

BillCheck::Limits BillCheck::LimitsOf(const SimJob& job) const {
  // A machine that is replaced may still run while its successor starts, so there may be one more than the limit.
  Limits limits;
  for (const auto& [name, pool] : world_.pools) {
    limits.highest_price = std::max(limits.highest_price, pool.highest_price);
    for (const PriceSince& since : pool.prices) limits.lowest_price = std::min(limits.lowest_price, since.price);
    limits.machines += pool.options.max;
  }
  if (job.options.max > 0) limits.machines = std::min(limits.machines, job.options.max + 1);
  return limits;
}

void BillCheck::CheckFinal(const SimJob& job, const Bill& bill, const v1::JobRecord& record) {
  const double spent = record.job().status().cost().spent();
  const Limits limits = LimitsOf(job);
  const double sure =
      bill.ran - limits.highest_price * (kSlow * bill.processes + limits.machines * bill.unsure) / kHour;
  if (spent >= sure) return;
  journal_.Violate(absl::StrFormat("%.5f are spent for %s, and what ran has cost %.5f at least", spent, job.uid, sure));
}

void BillCheck::CheckBudget(const SimJob& job, Bill& bill, const v1::JobRecord& record) {
  const double spent = record.job().status().cost().spent();
  // A job that is finishing saves its result whatever the save costs.
  if (record.job().status().state() == v1::FINISHING) {
    bill.forgiven = std::max(bill.forgiven, spent - job.budget);
    return;
  }
  const Limits limits = LimitsOf(job);
  const double risen = kGrantedPart * job.budget * (limits.highest_price / limits.lowest_price - 1);
  const double cap = job.budget + bill.forgiven + risen +
                     limits.highest_price * limits.machines * (kPlanningSeconds + bill.unsure) / kHour;
  if (spent <= cap) return;
  journal_.Violate(absl::StrFormat("%.5f are spent for %s, of a budget of %.5f", spent, job.uid, job.budget));
}

}  // namespace rekindle::core::simulation
