#include "tests/simulation/faults/fault_plan.h"

#include <algorithm>

namespace rekindle::core::simulation {

FaultPlan::FaultPlan(World& world, Coordinator& coordinator, Nodes& nodes, Users& users)
    : world_(world),
      coordinator_(coordinator),
      nodes_(nodes),
      users_(users),
      trainer_faults_(world, nodes.supervisor),
      node_faults_(world, coordinator, nodes.machines),
      coordinator_faults_(world, coordinator),
      store_faults_(world, trainer_faults_),
      market_faults_(world, coordinator, nodes.machines),
      vanishings_(world, nodes.machines),
      copies_(world, coordinator, nodes.machines, users.recovered_jobs, users.lost_jobs) {
  coordinator.Add(&vanishings_);
}

void FaultPlan::Plan() {
  const Options& options = world_.options;
  const double end = options.chaos_seconds;
  PlanEach(options.faults, 1, end, [this] { OneFault(); });
  PlanEach(options.unheard, 1, end / 2, [this] { node_faults_.StopHearing(); });
  PlanEach(options.absences, 8, end, [this] { coordinator_faults_.KillForLong(); });
  PlanEach(options.database, 1, end, [this] { coordinator_faults_.SpoilDatabase(); });
  PlanEach(options.clocks, 1, end, [this] { coordinator_faults_.StepClock(); });
  PlanEach(options.strangers, 1, end, [this] {
    if (SimNode* node = world_.AnyNode(); node != nullptr) nodes_.strangers.Change(*node);
  });
  PlanEach(options.nccl, 1, end, [this] { trainer_faults_.HangNccl(); });
  PlanEach(options.prices, 1, end, [this] { market_faults_.ChangePrice(); });
  PlanEach(options.vanishings, 1, end / 2, [this] { vanishings_.Arm(1 + world_.chance.Pick(3)); });
  copies_.Plan();
  PlanEach(options.store, 2, end, [this] { store_faults_.Spoil(); });
}

void FaultPlan::PlanEach(int times, double first, double last, const std::function<void()>& fault) {
  for (int i = 0; i < times; ++i) world_.queue.At(world_.chance.Uniform(first, last), fault);
}

void FaultPlan::OneFault() {
  if (!world_.pools.empty() && world_.chance.Happens(0.35)) return market_faults_.Change();
  SimNode* node = world_.AnyNode();
  if (node == nullptr) return;
  FaultOn(*node);
}

void FaultPlan::FaultOn(SimNode& node) {
  Process* process = world_.AnyOf(node);
  const bool has_agent = node.up && node.agent;
  switch (world_.chance.Pick(13)) {
    case 0:
    case 1:
      if (process != nullptr) trainer_faults_.Kill(*process);
      return;
    case 2:
      if (node.up) nodes_.machines.Kill(node, world_.chance.Happens(0.3));
      return;
    case 3:
      if (process != nullptr) trainer_faults_.Freeze(*process);
      return;
    case 4:
    case 5:
      return coordinator_faults_.Kill();
    case 6:
      if (has_agent) node_faults_.KillAgent(node);
      return;
    case 7:
      if (coordinator_.is_up()) node_faults_.Drain(node.name);
      return;
    case 8:
      if (has_agent) node_faults_.GiveNotice(node);
      return;
    case 9:
      return node_faults_.CutData(node.name);
    case 10:
      if (coordinator_.is_up()) users_.resuming.PauseOrResume();
      return;
    case 11:
      if (has_agent) trainer_faults_.FailGpu(node);
      return;
    default:
      KillAllOrAddNode();
  }
}

void FaultPlan::KillAllOrAddNode() {
  if (world_.chance.Happens(0.5)) {
    trainer_faults_.KillHolders(true);
  } else if (static_cast<int>(world_.nodes.size()) < world_.options.nodes + 2 && world_.pools.empty()) {
    world_.journal.Count(Fault::kNodeAdded);
    nodes_.machines.Add();
  }
}

void FaultPlan::Heal() {
  world_.journal.Note("the faults stop");
  world_.chaos = false;
  vanishings_.Disarm();
  world_.blocked.clear();
  for (auto& [name, node] : world_.nodes) {
    node.unheard_until = std::min(node.unheard_until, world_.now());
    node.store_away_until = node.unmounted_until = 0;
    for (SimSlot& slot : node.slots) slot.broken_until = 0;
  }
  for (auto& [uid, job] : world_.jobs) job.store_full_until = 0;
  coordinator_.database().Mend();
  nodes_.strangers.MendAll();
  nodes_.machines.GiveUpGone();
  if (!coordinator_.is_up()) coordinator_.Start();
  for (auto& [name, node] : world_.nodes) nodes_.machines.Return(name);
  for (auto& [name, pool] : world_.pools) {
    pool.offered = pool.options.max;
    pool.says_what_ended = true;
  }
  users_.resuming.ResumeAll();
}

}  // namespace rekindle::core::simulation
