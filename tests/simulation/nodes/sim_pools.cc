#include "tests/simulation/nodes/sim_pools.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kOrderSeconds = 0.1;
constexpr double kLate = 5;

}  // namespace

void Pools::Take(const PoolOrder& order) {
  coordinator_.At(world_.now() + kOrderSeconds, [this, order] {
    SimPool& pool = world_.pools.at(order.pool);
    pool.order = order;
    pool.answered = false;
    for (const std::string& name : order.end) machines_.End(name);
    world_.journal.Note(absl::StrCat("pool ", order.pool, " is to have ", order.nodes, ": ", order.reason));
    Fulfil(pool);
    Report(pool);
  });
}

void Pools::Loop(const std::string& name) {
  SimPool& pool = world_.pools.at(name);
  Fulfil(pool);
  Report(pool);
  world_.After(world_.chance.Uniform(0.5, 2), [this, name] { Loop(name); });
}

void Pools::Fulfil(SimPool& pool) {
  const int desired = std::clamp(pool.order.nodes, 0, pool.options.max);
  const bool ends = pool.order.surplus == Surplus::kEnds;
  while (ends && static_cast<int>(pool.machines.size()) > desired) {
    std::string name = *pool.machines.rbegin();
    for (const std::string& released : pool.order.release) {
      if (pool.machines.count(released)) name = released;
    }
    machines_.End(name);
  }
  while (static_cast<int>(pool.machines.size()) < std::min(desired, pool.offered)) MakeMachine(pool);
}

void Pools::MakeMachine(SimPool& pool) {
  const std::string name = absl::StrCat(pool.options.name, "-", ++pool.made);
  const bool late = world_.chance.Happens(0.2) && world_.chaos;
  if (late) world_.journal.Count(Fault::kMachineLate);
  pool.machines.insert(name);
  if (world_.chaos && world_.chance.Happens(0.1)) {
    world_.journal.Count(Fault::kMachineNeverRegisters);
    world_.journal.Note(absl::StrCat("machine ", name, " never registers"));
    pool.dead.insert(name);
    return;
  }
  const double seconds = late ? world_.chance.Uniform(kLate, 3 * kLate) : world_.chance.Uniform(0.3, 2);
  world_.After(seconds, [this, name, &pool] {
    if (!pool.machines.count(name)) return;
    world_.journal.Note(absl::StrCat("machine ", name, " is there"));
    SimNode node;
    node.name = name;
    node.pool = pool.options.name;
    node.slots.resize(pool.options.slots);
    node.clock_rate = 1 + world_.chance.Uniform(-kClocksDiffer, kClocksDiffer);
    node.alone = agent::Alone(world_.now() * node.clock_rate, world_.options.alone_seconds);
    machines_.Begin(std::move(node));
  });
}

void Pools::Report(SimPool& pool) {
  const auto running = static_cast<int>(pool.machines.size());
  PoolReported report;
  for (const std::string& name : pool.order.look_for) {
    const auto node = world_.nodes.find(name);
    if (pool.says_what_ended && node != world_.nodes.end() && node->second.gone) report.ended.push_back(name);
  }
  for (const std::string& name : pool.machines) {
    const bool runs = pool.dead.count(name) > 0 || world_.nodes.count(name) > 0;
    report.machines.push_back({.id = name, .node = name, .running = runs});
  }
  const bool same = pool.reported == running && pool.ended == report.ended && pool.told == report.machines;
  if (!coordinator_.is_up() || (pool.answered && same)) return;
  if (!report.ended.empty()) world_.journal.Count(Fault::kMachineEnded);
  report.pool = pool.options.name;
  report.running = running;
  if (running < pool.order.nodes) {
    world_.journal.Count(Fault::kOrderShort);
    if (pool.says_when_short) {
      report.trouble = PoolTrouble::kNoCapacity;
      report.error = "no machine of that kind is left";
    }
  }
  pool.answered = true;
  pool.reported = running;
  pool.ended = report.ended;
  pool.told = report.machines;
  coordinator_.Feed(report);
}

}  // namespace rekindle::core::simulation
