// Counts what jobs cost, compares that with the coordinator's count, and compares the coordinator's count with the
// budgets.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// A job may exceed its budget by what its nodes cost in `kPlanningSeconds`.
constexpr double kPlanningSeconds = 60;
// A process that is asked to stop as it starts may run for `kSlow` seconds.
constexpr double kSlow = 1.5;
// At most a share of `kGrantedPart` of a budget is granted in advance, at the price that holds when it is granted.
constexpr double kGrantedPart = 0.25;

bool IsOver(const v1::JobRecord& record) {
  const v1::JobState state = record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

}  // namespace

void SimCluster::NoteBill(const v1::JobRecord& record) {
  const v1::Cost& cost = record.job().status().cost();
  if (cost.node_hours() <= 0) return;
  Note(absl::StrFormat("%.5f are spent for %s until %.3f, %d nodes held and %d lost", cost.spent(), record.job().uid(),
                       cost.until() - wall_offset_, record.held_nodes_size(), record.lost_nodes_size()));
}

// Returns the pool that the machine of the process belongs to, or null if the machine has no price.
const SimPool* SimCluster::PoolOf(const Process& process) const {
  const auto pool = pools_.find(nodes_.at(process.node).pool);
  return pool == pools_.end() ? nullptr : &pool->second;
}

void SimCluster::BeginBill(Process& process) {
  if (PoolOf(process) == nullptr) return;
  process.counted_until = queue_.now();
  ++process.job->bill.processes;
  // An agent that cannot be heard restarts a trainer of the job that had the slot when the agent was heard last.
  process.is_paid_by_others = IsPaidByOthers(process);
}

// Returns whether other jobs pay for so much of the machine that they must be paying for the slot of `process`.
bool SimCluster::IsPaidByOthers(const Process& process) const {
  constexpr double kRounding = 1e-6;
  const SimNode& node = nodes_.at(process.node);
  double others = 0, own = 0;
  for (const auto& [uid, record] : records_) {
    if (uid == process.job->uid) continue;
    for (const auto* charged : {&record.held_nodes(), &record.lost_nodes()}) {
      for (const auto& one : *charged) others += one.node() == node.name ? one.part() : 0;
    }
  }
  for (const SimSlot& slot : node.slots) {
    own += !slot.process.empty() && processes_.at(slot.process).job == process.job;
  }
  return others > 1 - own / static_cast<double>(node.slots.size()) + kRounding;
}

// Marks the processes whose slots another job pays for. A slot may go to another job before anybody could know that a
// process of the first job was started there. Then the other job pays for the slot until that process is gone.
void SimCluster::NotePayers(const v1::JobRecord& record) {
  for (const auto& held : record.held_nodes()) {
    const auto node = nodes_.find(held.node());
    if (node == nodes_.end()) continue;
    for (Process* process : Running(node->second)) {
      const bool may_be = !process->is_known && process->job->uid != record.job().uid();
      if (may_be && IsPaidByOthers(*process)) process->is_paid_by_others = true;
    }
  }
}

// Adds what the process has cost up to now to its job's bill. Only machines with a price cost anything.
void SimCluster::CountRan(Process& process) {
  if (!process.alive || process.counted_until < 0) return;
  const double seconds = queue_.now() - process.counted_until;
  process.counted_until = queue_.now();
  if (process.is_paid_by_others) return;
  Bill& bill = process.job->bill;
  const SimPool& pool = *PoolOf(process);
  if (!bill.over) bill.ran += seconds * pool.least_price / pool.options.slots / kHour;
}

void SimCluster::CountAllRan() {
  for (auto& [id, process] : processes_) CountRan(process);
}

// Notes the seconds that the coordinator cannot know. If its clock was set while it was away, it cannot tell the jump
// of the clock from the time that has passed. The same holds if it was told of the jump and was killed before it saved
// that.
void SimCluster::NoteClockSetWhileAway() {
  const double unsure = std::abs(wall_offset_ - saved_offset_);
  for (auto& [uid, job] : jobs_) job.bill.unsure += unsure;
}

void SimCluster::CheckBill(SimJob& job, const v1::JobRecord& record) {
  Bill& bill = job.bill;
  const bool ends = !bill.over && IsOver(record);
  if (ends) {
    CountAllRan();
    NoteBill(record);
  }
  bill.over = IsOver(record);
  // While the database could not be written, nobody could be told that the job is over. The next turn charges for that
  // time.
  const bool rest_comes = stalled_ != told_stalled_;
  const bool is_final = (ends || bill.rest_comes) && !rest_comes;
  bill.rest_comes = (ends || bill.rest_comes) && rest_comes;
  if (pools_.empty()) return;
  const v1::Cost& cost = record.job().status().cost();
  double highest = 0, lowest = 1e9;
  // `most` is the largest number of machines that can serve the job at a time. It is one above the limit of its
  // machines, because a machine that is replaced may still run while its successor starts.
  int most = 1;
  for (const auto& [name, pool] : pools_) {
    highest = std::max(highest, pool.highest_price);
    for (const PriceSince& since : pool.prices) lowest = std::min(lowest, since.price);
    most += pool.options.max;
  }
  if (job.options.max > 0) most = std::min(most, job.options.max + 1);
  if (is_final) {
    const double sure = bill.ran - highest * (kSlow * bill.processes + most * bill.unsure) / kHour;
    if (cost.spent() < sure) {
      Violate(
          absl::StrFormat("%.5f are spent for %s, and what ran has cost %.5f at least", cost.spent(), job.uid, sure));
    }
  }
  if (bill.budget <= 0) return;
  // A job that is finishing saves its result whatever the save costs.
  if (record.job().status().state() == v1::FINISHING) {
    bill.forgiven = std::max(bill.forgiven, cost.spent() - bill.budget);
    return;
  }
  const double risen = kGrantedPart * bill.budget * (highest / lowest - 1);
  const double cap = bill.budget + bill.forgiven + risen + highest * most * (kPlanningSeconds + bill.unsure) / kHour;
  if (cost.spent() > cap) {
    Violate(absl::StrFormat("%.5f are spent for %s, of a budget of %.5f", cost.spent(), job.uid, bill.budget));
  }
}

}  // namespace rekindle::core::simulation
