#include "coordinator/core/planning/plan_view_maker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "common/spec/spec_words.h"
#include "coordinator/core/account/emissions.h"
#include "coordinator/core/account/speeds.h"
#include "coordinator/core/choices/first_epoch.h"
#include "coordinator/core/machines/registering.h"
#include "coordinator/core/planning/budget_limits.h"
#include "coordinator/core/planning/claims.h"
#include "coordinator/core/planning/goals.h"
#include "coordinator/core/planning/pools.h"
#include "coordinator/core/planning/slot_placement.h"
#include "coordinator/core/planning/units.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"
#include "coordinator/market/goal_words.h"

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
      view_.jobs.push_back({&job, {}, {}});
    }
    AddOrderedPools();
    for (auto& [name, node] : state_.nodes) AddNode(name, node);
    for (size_t g = 0; g < view_.ordered.size(); ++g) LimitOrders(static_cast<int>(g));
    for (JobSlots& job : view_.jobs) AddDemand(job);
    LimitClaims(view_);
    return std::move(view_);
  }

 private:
  void AddOrderedPools() {
    for (const auto& [name, pool] : state_.prices.pools) {
      if (!pool.ordered) continue;
      state_.pools[name].record.set_name(name);
      const int g = ordered_[std::hash<std::string>()(name)] = AddGroup({name, "", scheduler::OwnCode::kAny}, &pool);
      scheduler::Supply& supply = view_.fleet.pools[g];
      supply.ordered = true;
      supply.device = pool.device;
      supply.nodes_per_slot = 1.0 / pool.devices;
      view_.fleet.orders.push_back({.name = name, .capacity = supply.capacity, .price = supply.price});
      view_.pool_names.push_back(name);
      view_.ordered.emplace_back();
    }
  }

  // Nodes of one pool with equal `Kind` can do the same.
  using Kind = std::tuple<std::string, std::string, scheduler::OwnCode>;

  int AddGroup(const Kind& kind, const PoolPrices* pool) {
    const auto g = static_cast<int>(view_.groups.size());
    const auto& [name, device, runs] = kind;
    groups_[kind] = g;
    view_.groups.push_back({name, {}});
    places_.emplace_back(name, device);
    scheduler::Supply supply;
    supply.runs = runs;
    const bool spot = PoolCapacityOf(CapacityOf(pool)) == PoolCapacity::kSpot;
    supply.capacity = spot ? scheduler::Capacity::kSpot : scheduler::Capacity::kOnDemand;
    supply.device = device;
    if (pool != nullptr) supply.price = PriceAt(pool->price, UnixNow(turn_)) / std::max(1, pool->devices);
    view_.fleet.pools.push_back(supply);
    return g;
  }

  // Returns the group of a node. A pool that takes orders is one group, because all of its machines are alike. Any
  // other pool has a group for each kind of device, and for nodes that run other jobs.
  int GroupOf(const NodeState& node) {
    const auto ordered = ordered_.find(node.pool);
    if (ordered != ordered_.end()) return ordered->second;
    const Kind kind(node.record.pool(), node.report.device().kind(), node.runs);
    const auto known = groups_.find(kind);
    if (known != groups_.end()) return known->second;
    const int g = AddGroup(kind, FindPool(state_.prices, node.record.pool()));
    view_.fleet.pools[g].nodes_per_slot = 1.0 / std::max(1, node.record.slots());
    return g;
  }

  // Adds a node to its group. A node that was not heard of since the coordinator started keeps the jobs that it has,
  // and gets no new ones. The same holds for a lost node whose members may still step (see FreeSlots).
  void AddNode(std::string_view name, NodeState& node) {
    if (!node.error.empty() || (node.lost && node.slots.empty())) return;
    const int g = GroupOf(node);
    const bool ordered = static_cast<size_t>(g) < view_.ordered.size();
    const bool leaves = node.record.draining() || (ordered && !node.record.hint().empty());
    if (ordered) {
      OrderedNodes& nodes = view_.ordered[g];
      const bool gone = node.overdue || !node.record.drained_agent().empty();
      (leaves && gone ? nodes.released : leaves ? nodes.leaving : nodes.there).push_back(&node);
    }
    if (node.record.draining() || (!node.reported && node.slots.empty())) return;
    scheduler::Supply& supply = view_.fleet.pools[g];
    for (const auto& [slot, uid] : node.slots) {
      const auto job = index_.find(uid);
      if (job == index_.end()) continue;
      JobSlots& slots = view_.jobs[job->second];
      if (leaves) {
        slots.at_risk.push_back({&node, slot, name});
        continue;
      }
      if (slots.held.size() < view_.groups.size()) slots.held.resize(view_.groups.size());
      slots.held[g].push_back({&node, slot, name});
      ++supply.slots;
    }
    for (int slot = 0; !leaves && node.reported && !node.lost && slot < node.report.slots(); ++slot) {
      if (node.slots.count(slot) || FaultOf(node.report, slot) != nullptr) continue;
      view_.groups[g].free.push_back({&node, slot, name});
      ++supply.slots;
    }
  }

  // Sets how many slots a pool can provide: those of its highest number of nodes, less the nodes that leave. In a pool
  // that is avoided, only the nodes that are there or on their way count. Sets which jobs the pool is for, too.
  void LimitOrders(int g) {
    const PoolPrices& pool = *FindPool(state_.prices, view_.groups[g].pool);
    PoolState& state = state_.pools[view_.groups[g].pool];
    const OrderedNodes& nodes = view_.ordered[g];
    int count = pool.max - static_cast<int>(nodes.leaving.size());
    if (state.avoided) {
      const auto gone = static_cast<int>(nodes.leaving.size() + nodes.released.size());
      const int comes = state.reported.running - gone - static_cast<int>(Overdue(state).size());
      count = std::min(count, state.given_up ? 0 : comes);
    }
    if (state.not_ours_since != kNever) count = 0;
    int failed = 0;
    for (const NodeState* node : nodes.there) failed += node->report.slot_faults_size();
    scheduler::Supply& supply = view_.fleet.pools[g];
    supply.slots = std::max(supply.slots, count * pool.devices - failed);
    supply.runs = state_.tunables.takes_code ? RunsOnNext(turn_, state, nodes) : scheduler::OwnCode::kNone;
  }

  // Adds what a job demands. In pools that take orders, the job holds what was ordered for it, whether it is there or
  // not.
  void AddDemand(JobSlots& slots) {
    Job& job = *slots.job;
    slots.held.resize(view_.groups.size());
    scheduler::CycleJob out;
    scheduler::Demand& demand = out.demand;
    double look_at = kNever;
    const bool finishing = IsFinishing(job);
    if (finishing || !WaitsForHours(turn_, job, &slots.off_peak, &look_at)) slots.off_peak.clear();
    view_.look_at = std::min(view_.look_at, look_at);
    const bool released = job.record.released() && (job.record.halt().empty() || job.record.want_paused());
    const bool wants = slots.off_peak.empty() && !released;
    // A finishing job has the highest priority: nobody takes the nodes that hold its final state, and the state is
    // handed on before any other job starts.
    demand.priority = finishing ? std::numeric_limits<int>::max() : SpecOf(job).priority();
    demand.team = TeamOf(SpecOf(job).team());
    demand.min = wants ? MinWorkers(job) : 0;
    const KindWanted kind =
        WantedKind(state_, job, SlotsOf(common::DeviceKind::kCpu, slots), SlotsOf(common::DeviceKind::kGpu, slots));
    slots.moved = kind.moved;
    demand.device = kind.device ? common::WordOf(*kind.device) : SpecOf(job).workers().device();
    demand.needs = OwnCodeOf(SpecOf(job));
    LookWhenTried(demand.needs);
    demand.speeds = SpeedsOf(state_, job, places_);
    demand.max = wants ? MaxWorkers(job) + (finishing ? 0 : kind.beyond_its_most) : 0;
    SetCapacity(state_, job, &demand);
    if (finishing) demand.max_ordered = demand.max;
    // A job that its user has paused keeps what it has, so that it goes on soon, and waits for nothing.
    const bool paused = IsHeldBack(job) && !finishing;
    if (!view_.ordered.empty() && !finishing) SyncUnits(turn_, job, CountIn(slots));
    if (!view_.ordered.empty() && !finishing && !paused) {
      UpdateView(turn_, job, view_.pool_names);
      out.view = &job.wishes.view;
      out.memory = job.wishes.memory.get();
      out.policy = PolicyOf(state_, job);
      out.hours = HoursSinceSubmit(turn_, job);
      if (out.policy.objective == scheduler::Objective::kGreenest) out.emissions = &EmissionsFor(NodeWatts(job));
    }
    if (!finishing && job.record.job().status().cost().budget() > 0) LimitToBudget(turn_, view_, slots, &demand);
    int held = 0;
    const std::vector<int> ordered = CountOrdered(job, paused);
    for (int g = 0; g < static_cast<int>(slots.held.size()); ++g) {
      if (kind.moved && view_.fleet.pools[g].device != demand.device) continue;
      // Where the pool's next machine would not run the job, the job has a claim only to the slots that it holds.
      const bool is_for = demand.needs <= view_.fleet.pools[g].runs;
      const bool as_ordered = g < static_cast<int>(ordered.size()) && !finishing && is_for;
      const int count = as_ordered ? ordered[g] : static_cast<int>(slots.held[g].size());
      if (count > 0) demand.held.push_back({g, count});
      held += count;
    }
    if (paused) {
      demand.max = std::min(demand.max, held);
      demand.min = std::min(demand.min, demand.max);
    }
    slots.runs = job.record.membership().members_size() > 0 && !job.record.released();
    demand.firm = slots.runs || held >= demand.min;
    view_.demands.push_back(std::move(out));
  }

  // A pool whose newest machine does not run the job is tried again after a while, and then the plan is made again.
  void LookWhenTried(scheduler::OwnCode needs) {
    for (size_t g = 0; g < view_.ordered.size(); ++g) {
      if (needs <= view_.fleet.pools[g].runs || !state_.tunables.takes_code) continue;
      view_.look_at = std::min(view_.look_at, state_.pools[view_.groups[g].pool].unable.until);
    }
  }

  // Returns how many units the job has in each pool that takes orders. Units that a paused job has not got yet do not
  // count, so that they are not ordered any more.
  std::vector<int> CountOrdered(const Job& job, bool paused) const {
    std::vector<int> counts(view_.ordered.size());
    const Unit* before = nullptr;
    auto group = ordered_.end();
    for (const Unit& unit : job.wishes.units) {
      // Most units of a job are in one pool, so the pool of the preceding unit is tried first.
      const bool is_same = before != nullptr && unit.pool == before->pool;
      if (!is_same) group = ordered_.find(std::hash<std::string>()(unit.pool));
      before = &unit;
      if (group != ordered_.end() && (unit.placed || !paused)) ++counts[group->second];
    }
    return counts;
  }

  // Returns the pools' emissions for nodes that draw `watts`, as a reference into the view. It stays valid when the
  // view is moved, because a map's values stay where they are.
  const std::vector<scheduler::Emission>& EmissionsFor(double watts) {
    const auto [at, is_new] = view_.emissions.try_emplace(watts);
    if (is_new) at->second = EmissionsOf(turn_, view_.pool_names, watts);
    return at->second;
  }

  KindSlots SlotsOf(common::DeviceKind device, const JobSlots& job) const {
    KindSlots slots;
    for (size_t g = 0; g < view_.groups.size(); ++g) {
      if (common::DeviceKindOf(view_.fleet.pools[g].device) != device) continue;
      slots.held += static_cast<int>(job.held[g].size());
      slots.free += static_cast<int>(view_.groups[g].free.size());
    }
    return slots;
  }

  // Counts the job's slots in each ordered pool, without those that an earlier cycle told it to leave.
  std::map<std::string, PoolCount> CountIn(const JobSlots& slots) const {
    std::map<std::string, PoolCount> counts;
    const std::vector<NodeSlot> living = LivingSlots(*slots.job);
    const bool steps = IsStepping(*slots.job);
    for (size_t g = 0; g < view_.ordered.size(); ++g) {
      if (slots.held[g].empty()) continue;
      PoolCount& count = counts[view_.groups[g].pool];
      for (const SlotAt& at : slots.held[g]) {
        if (!slots.job->giving_up.empty() && slots.job->giving_up.count(NameOf(at))) continue;
        const NodeSlot place(at.name, at.slot);
        const bool lives = std::binary_search(living.begin(), living.end(), place);
        ++count.held;
        count.arrived += lives || CouldJoin(turn_, *slots.job, NameOf(at));
        count.working += lives && steps;
      }
    }
    return counts;
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
  absl::flat_hash_map<std::string, size_t> index_;
  // `ordered_` maps NodeState::pool to the group of a pool that takes orders.
  absl::flat_hash_map<size_t, int> ordered_;
  // `groups_` maps kinds of nodes to their group, and `places_` has the pool and the kind of device of each group.
  std::map<Kind, int> groups_;
  std::vector<std::pair<std::string, std::string>> places_;
  absl::flat_hash_map<std::string, int> teams_;
};

}  // namespace

PlanView MakePlanView(Turn& turn) { return Viewing(turn).Run(); }

}  // namespace rekindle::core
