// Models pools that take orders. A provider fulfils the orders late or in part, and a market gives and takes machines.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kOrderSeconds = 0.1;
constexpr double kLate = 5;

}  // namespace

// Takes the coordinator's order to the provider, unless the coordinator dies before. The order is lost then, which does
// no harm, because the next one contains the whole desired state again.
void SimCluster::TakeOrder(const PoolOrder& order) {
  queue_.At(queue_.now() + kOrderSeconds, [this, order, life = coordinator_life_] {
    if (!coordinator_up_ || life != coordinator_life_) return;
    SimPool& pool = pools_.at(order.pool);
    pool.order = order;
    pool.answered = false;
    for (const std::string& name : order.end) EndMachine(name);
    Note(absl::StrCat("pool ", order.pool, " is to have ", order.nodes, ": ", order.reason));
    Fulfil(pool);
    TellOfPool(pool);
  });
}

void SimCluster::PoolLoop(const std::string& name) {
  SimPool& pool = pools_.at(name);
  Fulfil(pool);
  TellOfPool(pool);
  queue_.At(queue_.now() + chance_.Uniform(0.5, 2), [this, name] { PoolLoop(name); });
}

// Makes or ends machines until the pool matches its order. If fewer machines are wanted, those that the order names end
// first, and then the newest ones.
void SimCluster::Fulfil(SimPool& pool) {
  const int desired = std::clamp(pool.order.nodes, 0, pool.options.max);
  const bool ends = pool.order.surplus == Surplus::kEnds;
  while (ends && static_cast<int>(pool.machines.size()) > desired) {
    std::string name = *pool.machines.rbegin();
    for (const std::string& released : pool.order.release) {
      if (pool.machines.count(released)) name = released;
    }
    EndMachine(name);
  }
  while (static_cast<int>(pool.machines.size()) < std::min(desired, pool.offered)) MakeMachine(pool);
}

void SimCluster::MakeMachine(SimPool& pool) {
  const std::string name = absl::StrCat(pool.options.name, "-", ++pool.made);
  const bool late = chance_.Happens(0.2) && lossy_;
  if (late) tally_.Count(Fault::kMachineLate);
  pool.machines.insert(name);
  if (lossy_ && chance_.Happens(0.1)) {
    tally_.Count(Fault::kMachineNeverRegisters);
    Note(absl::StrCat("machine ", name, " never registers"));
    pool.dead.insert(name);
    return;
  }
  queue_.At(queue_.now() + (late ? chance_.Uniform(kLate, 3 * kLate) : chance_.Uniform(0.3, 2)), [this, name, &pool] {
    if (!pool.machines.count(name)) return;
    Note(absl::StrCat("machine ", name, " is there"));
    SimNode node;
    node.name = name;
    node.pool = pool.options.name;
    node.slots.resize(pool.options.slots);
    if (node.slots.size() > 1) tally_.Count(Fault::kSeveralSlots);
    node.clock_rate = 1 + chance_.Uniform(-kClocksDiffer, kClocksDiffer);
    node.alone = agent::Alone(queue_.now() * node.clock_rate, options_.alone_seconds);
    TakeGpu(node);
    nodes_[name] = node;
    AgentLoop(name, 1);
  });
}

void SimCluster::EndMachine(const std::string& name) {
  for (auto& [pool_name, pool] : pools_) {
    pool.machines.erase(name);
    pool.dead.erase(name);
  }
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.gone) return;
  SimNode& node = found->second;
  Note(absl::StrCat("machine ", name, " goes"));
  node.up = false;
  node.agent = false;
  node.gone = true;
  for (Process* process : Running(node)) StopTrainer(*process, -9, false);
}

void SimCluster::TellOfPool(SimPool& pool) {
  const auto running = static_cast<int>(pool.machines.size());
  PoolReported report;
  for (const std::string& name : pool.order.look_for) {
    const auto node = nodes_.find(name);
    if (pool.says_what_ended && node != nodes_.end() && node->second.gone) report.ended.push_back(name);
  }
  for (const std::string& name : pool.machines) {
    const bool runs = pool.dead.count(name) > 0 || nodes_.count(name) > 0;
    report.machines.push_back({.id = name, .node = name, .running = runs});
  }
  const bool same = pool.reported == running && pool.ended == report.ended && pool.told == report.machines;
  if (!coordinator_up_ || (pool.answered && same)) return;
  if (!report.ended.empty()) tally_.Count(Fault::kMachineEnded);
  report.pool = pool.options.name;
  report.running = running;
  if (running < pool.order.nodes) {
    tally_.Count(Fault::kOrderShort);
    if (pool.says_when_short) {
      report.trouble = PoolTrouble::kNoCapacity;
      report.error = "no machine of that kind is left";
    }
  }
  pool.answered = true;
  pool.reported = running;
  pool.ended = report.ended;
  pool.told = report.machines;
  Feed(report);
}

void SimCluster::MarketFault() {
  auto it = pools_.begin();
  std::advance(it, chance_.Pick(static_cast<int>(pools_.size())));
  SimPool& pool = it->second;
  const int before = pool.offered;
  pool.offered = chance_.Pick(pool.options.max + 1);
  pool.says_when_short = chance_.Happens(0.5);
  pool.says_what_ended = chance_.Happens(0.7);
  if (pool.offered > before) tally_.Count(Fault::kMarketGives);
  Note(absl::StrCat("the market gives ", pool.offered, " machines of pool ", pool.options.name));
  auto excess = static_cast<int>(pool.machines.size()) - pool.offered;
  for (const std::string& name : std::set<std::string>(pool.machines)) {
    if (excess-- <= 0) return;
    tally_.Count(Fault::kMarketTakes);
    const auto node = nodes_.find(name);
    if (node == nodes_.end()) {
      EndMachine(name);
      continue;
    }
    if (chance_.Happens(0.4)) {
      KillNode(node->second, chance_.Happens(0.3));
      continue;
    }
    node->second.draining = true;
    tally_.Count(Fault::kNodeNoticed);
    queue_.At(queue_.now() + chance_.Uniform(2, 6), [this, name] { EndMachine(name); });
  }
}

}  // namespace rekindle::core::simulation
