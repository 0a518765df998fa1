#include "tests/simulation/world/sim_world.h"

#include <algorithm>
#include <iterator>

namespace rekindle::core::simulation {
namespace {

// A message takes at most `kSlowest` seconds.
constexpr double kSlowest = 0.03;
constexpr double kLost = 0.04;
constexpr double kDoubled = 0.04;

}  // namespace

World::World(uint64_t seed, const Options& options) : options(options), chance(seed) {
  for (const JobOptions& each : options.jobs) {
    SimJob& job = jobs[each.name];
    job.uid = each.name;
    job.options = each;
    job.budget = each.budget;
  }
  for (const PoolOptions& each : options.pools) {
    SimPool& pool = pools[each.name];
    pool.options = each;
    pool.offered = each.max;
    pool.prices = {{0, each.price}};
    pool.least_price = pool.highest_price = each.price;
  }
}

void World::AtProcess(const std::string& id, double delay, std::function<void(Process&)> run) {
  After(delay, [this, id, run = std::move(run)] {
    Process& process = processes[id];
    if (!process.alive) return;
    if (process.frozen_until > now()) {
      AtProcess(id, process.frozen_until - now() + 1e-6, run);
    } else {
      run(process);
    }
  });
}

void World::Send(const std::string& node, std::function<void()> arrive) {
  const int copies = chaos && chance.Happens(kLost) ? 0 : chaos && chance.Happens(kDoubled) ? 2 : 1;
  if (copies == 0) journal.Count(Fault::kMessageLost);
  if (copies == 2) journal.Count(Fault::kMessageDoubled);
  for (int i = 0; i < copies; ++i) {
    After(chance.Uniform(0.001, kSlowest), [this, node, arrive] {
      if (nodes[node].unheard_until <= now()) arrive();
    });
  }
}

bool World::Reachable(const std::string& a, const std::string& b) const {
  return blocked.empty() || !blocked.count({std::min(a, b), std::max(a, b)});
}

double World::ClockOf(const Process& process) const { return now() * nodes.at(process.node).clock_rate; }

std::vector<Process*> World::Running(const SimNode& node) {
  std::vector<Process*> running;
  for (const SimSlot& slot : node.slots) {
    if (!slot.process.empty()) running.push_back(&processes[slot.process]);
  }
  return running;
}

std::vector<const Process*> World::Running(const SimNode& node) const {
  std::vector<const Process*> running;
  for (const SimSlot& slot : node.slots) {
    if (!slot.process.empty()) running.push_back(&processes.at(slot.process));
  }
  return running;
}

Process* World::AnyOf(const SimNode& node) {
  const std::vector<Process*> running = Running(node);
  if (running.size() > 1) return running[chance.Pick(static_cast<int>(running.size()))];
  return running.empty() ? nullptr : running[0];
}

SimNode* World::AnyNode() {
  std::vector<SimNode*> there;
  for (auto& [name, node] : nodes) {
    if (!node.gone) there.push_back(&node);
  }
  if (there.empty()) return nullptr;
  return there[chance.Pick(static_cast<int>(there.size()))];
}

SimJob& World::AnyJob() {
  auto it = jobs.begin();
  if (jobs.size() > 1) std::advance(it, chance.Pick(static_cast<int>(jobs.size())));
  return it->second;
}

void World::Tell(const std::function<void(Observer&)>& tell) const {
  for (Observer* observer : observers) tell(*observer);
}

}  // namespace rekindle::core::simulation
