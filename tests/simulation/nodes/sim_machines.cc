#include "tests/simulation/nodes/sim_machines.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSayAgainSeconds = 20;

}  // namespace

void Machines::Add() {
  SimNode node;
  node.name = absl::StrCat("n", ++named_);
  node.clock_rate = 1 + world_.chance.Uniform(-kClocksDiffer, kClocksDiffer);
  if (world_.options.most_slots > 1) node.slots.resize(1 + world_.chance.Pick(world_.options.most_slots));
  Begin(std::move(node));
}

void Machines::Begin(SimNode node) {
  TakeGpu(node);
  if (node.slots.size() > 1) world_.journal.Count(Fault::kSeveralSlots);
  const std::string name = node.name;
  world_.nodes[name] = std::move(node);
  agents_.Loop(name, 1);
}

void Machines::Kill(SimNode& node, bool silent) {
  world_.journal.Note(absl::StrCat("node ", node.name, " is killed", silent ? " silently" : ""));
  world_.journal.Count(silent ? Fault::kNodeSilent : Fault::kNodeKilled);
  node.up = false;
  node.agent = false;
  for (Process* process : world_.Running(node)) supervisor_.Stop(*process, -9, silent);
  node.exits.clear();
  const std::string name = node.name;
  if (!node.pool.empty()) return End(name);
  if (world_.options.renames && world_.chance.Happens(0.5)) return Replace(node);
  world_.After(world_.chance.Uniform(0.5, 5), [this, name] { Return(name); });
}

void Machines::Vanish(SimNode& node) {
  if (!node.up) return;
  world_.journal.Note(absl::StrCat("node ", node.name, " vanishes"));
  world_.journal.Count(Fault::kNodeVanished);
  node.up = false;
  node.agent = false;
  for (Process* process : world_.Running(node)) supervisor_.Stop(*process, -9, true);
  node.exits.clear();
  if (!node.pool.empty()) return End(node.name);
  Replace(node);
}

void Machines::Return(const std::string& name) {
  SimNode& node = world_.nodes[name];
  if (!node.up) ++node.incarnation;
  if (node.agent || node.gone) return;
  node.up = true;
  node.agent = true;
  node.draining = false;
  node.last_reply = 0;
  ++node.agent_incarnation;
  world_.journal.Note(absl::StrCat("agent of ", name, " starts"));
  agents_.Adopt(node);
  agents_.Loop(name, node.agent_incarnation);
}

void Machines::LeaveDrained(const std::string& name) {
  world_.After(world_.chance.Uniform(1, 4), [this, name] {
    if (world_.nodes[name].pool.empty()) return Return(name);
    End(name);
  });
}

void Machines::End(const std::string& name) {
  for (auto& [pool_name, pool] : world_.pools) {
    pool.machines.erase(name);
    pool.dead.erase(name);
  }
  const auto found = world_.nodes.find(name);
  if (found == world_.nodes.end() || found->second.gone) return;
  SimNode& node = found->second;
  world_.journal.Note(absl::StrCat("machine ", name, " goes"));
  node.up = false;
  node.agent = false;
  node.gone = true;
  for (Process* process : world_.Running(node)) supervisor_.Stop(*process, -9, false);
}

void Machines::GiveUpGone() {
  world_.After(kSayAgainSeconds, [this] { GiveUpGone(); });
  if (!coordinator_.Answers()) return;
  for (const auto& [name, node] : world_.nodes) {
    const auto known = coordinator_.records().nodes.find(name);
    if (node.gone && node.pool.empty() && known != coordinator_.records().nodes.end())
      coordinator_.Feed(NodeGone{name});
  }
}

void Machines::Replace(SimNode& node) {
  world_.journal.Count(Fault::kNodeRenamed);
  node.gone = true;
  world_.After(world_.chance.Uniform(0.5, 5), [this] { Add(); });
}

void Machines::TakeGpu(SimNode& node) {
  if (!world_.options.gpus || world_.chance.Happens(0.1)) return;
  node.nccl_version = world_.chance.Happens(0.85) ? kNcclVersion : kOtherNcclVersion;
}

}  // namespace rekindle::core::simulation
