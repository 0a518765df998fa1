#include "coordinator/core/plan_view.h"

#include <algorithm>
#include <unordered_map>

namespace rekindle::core {
namespace {

class Viewing {
 public:
  explicit Viewing(Turn& turn) : turn_(turn), state_(turn.state) {}

  PlanView Run() {
    for (const std::string& uid : state_.order) {
      Job& job = state_.jobs.at(uid);
      if (IsOver(job)) continue;
      index_[uid] = view_.jobs.size();
      view_.jobs.push_back({&job, {}});
    }
    for (auto& [name, node] : state_.nodes) AddNode(node);
    for (JobSlots& job : view_.jobs) AddDemand(job);
    return std::move(view_);
  }

 private:
  // A node that was not heard of since the coordinator started keeps what it has, and gets nothing new.
  void AddNode(NodeState& node) {
    if (node.lost || node.record.draining() || !node.error.empty()) return;
    if (!node.reported && node.slots.empty()) return;
    const int g = GroupOf(node);
    scheduler::Supply& supply = view_.fleet.pools[g];
    for (const auto& [slot, uid] : node.slots) {
      const auto job = index_.find(uid);
      if (job == index_.end()) continue;
      auto& held = view_.jobs[job->second].held;
      if (held.size() < view_.groups.size()) held.resize(view_.groups.size());
      held[g].push_back({&node, slot});
      ++supply.slots;
    }
    for (int slot = 0; node.reported && slot < node.report.slots(); ++slot) {
      if (node.slots.count(slot)) continue;
      view_.groups[g].free.push_back({&node, slot});
      ++supply.slots;
    }
  }

  int GroupOf(const NodeState& node) {
    const auto [at, is_new] = groups_.emplace(node.record.pool(), static_cast<int>(view_.groups.size()));
    if (!is_new) return at->second;
    const PoolPrices* pool = FindPool(state_.prices, node.record.pool());
    view_.groups.push_back({node.record.pool(), {}});
    scheduler::Supply supply;
    supply.capacity = CapacityOf(pool) == "spot" ? scheduler::Capacity::kSpot : scheduler::Capacity::kOnDemand;
    supply.nodes_per_slot = 1.0 / std::max(1, node.record.slots());
    view_.fleet.pools.push_back(supply);
    return at->second;
  }

  void AddDemand(JobSlots& slots) {
    const Job& job = *slots.job;
    const v1::JobSpec& spec = SpecOf(job);
    slots.held.resize(view_.groups.size());
    scheduler::CycleJob out;
    scheduler::Demand& demand = out.demand;
    int held = 0;
    for (size_t g = 0; g < slots.held.size(); ++g) {
      const auto count = static_cast<int>(slots.held[g].size());
      if (count > 0) demand.held.push_back({static_cast<int>(g), count});
      held += count;
    }
    demand.priority = spec.priority();
    demand.team = TeamOf(spec.team());
    const bool wants = !job.record.released() || (!job.record.halt().empty() && !job.record.want_paused());
    demand.min = wants ? MinWorkers(job) : 0;
    demand.max = wants ? MaxWorkers(job) : 0;
    const bool runs = job.record.membership().members_size() > 0 && !job.record.released();
    demand.firm = runs || held >= demand.min;
    view_.demands.push_back(std::move(out));
  }

  int TeamOf(const std::string& name) {
    const auto [at, is_new] = teams_.emplace(name, static_cast<int>(view_.fleet.teams.size()));
    if (!is_new) return at->second;
    const auto known = state_.prices.teams.find(name);
    scheduler::Team team;
    if (known != state_.prices.teams.end()) {
      team.share = known->second.share;
      if (known->second.max_nodes > 0) team.max_nodes = known->second.max_nodes;
    }
    view_.fleet.teams.push_back(team);
    return at->second;
  }

  Turn& turn_;
  State& state_;
  PlanView view_;
  std::unordered_map<std::string, size_t> index_;
  std::unordered_map<std::string, int> groups_;
  std::unordered_map<std::string, int> teams_;
};

}  // namespace

PlanView MakePlanView(Turn& turn) { return Viewing(turn).Run(); }

}  // namespace rekindle::core
