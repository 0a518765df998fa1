#include "coordinator/core/planning/planning.h"

#include <algorithm>
#include <vector>

#include "absl/hash/hash.h"
#include "coordinator/core/account/emissions.h"
#include "coordinator/core/choices/first_epoch.h"
#include "coordinator/core/planning/planning_cycle.h"
#include "coordinator/core/planning/pools.h"
#include "coordinator/core/planning/slot_placement.h"
#include "coordinator/core/planning/units.h"

namespace rekindle::core {
namespace {

// Two planning cycles are at least this many seconds apart for each job and each node that exists, because a cycle
// looks at all of them.
constexpr double kSecondsEach = 1e-5;
constexpr size_t kFew = 500;

JobFacts FactsOf(const State& state, const Job& job) {
  JobFacts facts;
  facts.wants = !IsOver(job);
  if (!facts.wants) return facts;
  facts.runs = job.record.membership().members_size() > 0;
  facts.released = job.record.released();
  facts.paused = IsHeldBack(job);
  facts.halted = !job.record.halt().empty();
  facts.min = MinWorkers(job);
  facts.max = MaxWorkers(job);
  facts.room = std::min(job.account.budget_room, facts.max);
  facts.first_epoch = PhaseOfFirstEpoch(state, job);
  if (!job.wishes.units.empty() || IsFinishing(job)) {
    facts.working = IsStepping(job) ? job.record.membership().members_size() : 0;
    for (const auto& [id, trainer] : job.trainers) {
      facts.arrived += trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    }
  }
  if (!job.giving_up.empty()) {
    // A slot that the job gives up becomes free when its member leaves or dies, and another cycle is due then. The next
    // generation or a death shows that.
    facts.generation = job.record.membership().generation();
    facts.deaths = job.record.deaths_size();
  }
  return facts;
}

// Returns a number that differs, but for a chance in 2^64, where other slots have failed. 0 means that none has.
size_t FailedSlots(const v1::NodeReport& report) {
  if (report.slot_faults().empty()) return 0;
  std::vector<int> slots;
  for (const v1::SlotFault& fault : report.slot_faults()) slots.push_back(fault.slot());
  return absl::HashOf(slots);
}

NodeFacts FactsOf(const NodeState& node) {
  return {.usable = node.reported && !node.lost && !node.record.draining() && node.error.empty(),
          .hinted = !node.record.hint().empty(),
          .slots = node.reported ? UsableSlots(node.report) : 0,
          .failed = FailedSlots(node.report),
          .charged_as = node.charged_as,
          .device = node.device,
          .runs = node.runs,
          .code_words = node.code_words};
}

}  // namespace

void CheckPlanned(const Turn& turn, Job& job) {
  if (FactsOf(turn.state, job) != job.wishes.planned_as) turn.Replan();
}

void CheckPlanned(const Turn& turn, NodeState& node) {
  if (FactsOf(node) != node.planned_as) turn.Replan();
}

bool PlanJobs(Turn& turn, std::vector<Job*>* again) {
  State& state = turn.state;
  if (!state.plan_due && turn.now < state.plan_at) return false;
  const size_t size = state.jobs.size() + state.nodes.size();
  const double earliest = state.planned_at + (size > kFew ? static_cast<double>(size) * kSecondsEach : 0);
  if (turn.now < earliest) {
    state.plan_at = std::min(state.plan_at, earliest);
    return false;
  }
  state.planned_at = turn.now;
  state.plan_at = std::min(WatchPools(turn), WatchCarbon(turn));
  state.plan_due = false;
  const std::vector<Job*> shrunk = FreeSlots(state);
  *again = RunCycle(turn);
  for (Job* job : shrunk) {
    if (std::find(again->begin(), again->end(), job) == again->end()) again->push_back(job);
  }
  for (auto& [uid, job] : state.jobs) job.wishes.planned_as = FactsOf(state, job);
  for (auto& [name, node] : state.nodes) node.planned_as = FactsOf(node);
  return true;
}

}  // namespace rekindle::core
