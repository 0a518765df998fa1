#include "coordinator/scheduler/cycle.h"

#include <algorithm>
#include <utility>

#include "coordinator/scheduler/offers.h"

namespace rekindle::scheduler {
namespace {

bool SamePlace(const UnitView& a, const UnitView& b) {
  return a.pool == b.pool && a.leaving == b.leaving && (a.starting_hours > 0) == (b.starting_hours > 0);
}

class Ordering {
 public:
  Ordering(FleetView& fleet, const std::vector<CycleJob>& jobs, std::vector<Allotment> shares)
      : fleet_(fleet), jobs_(jobs), shares_(std::move(shares)) {
    for (const Supply& pool : fleet.pools) left_.push_back(pool.slots);
    for (const PoolView& pool : fleet.orders) prices_.push_back(pool.price);
    for (const Allotment& share : shares_) {
      for (const Slots& s : share.slots) left_[s.pool] -= s.count;
    }
  }

  std::vector<JobPlan> Run() {
    std::vector<JobPlan> plans(jobs_.size());
    for (size_t j = 0; j < jobs_.size(); ++j) {
      plans[j].allotment = std::move(shares_[j]);
      if (jobs_[j].view != nullptr) Order(jobs_[j], plans[j]);
    }
    return plans;
  }

 private:
  int Pools() const { return static_cast<int>(fleet_.orders.size()); }

  void Order(const CycleJob& job, JobPlan& plan) {
    std::vector<int> allotted(Pools(), 0);
    int slots = 0;
    for (const Slots& s : plan.allotment.slots) {
      if (s.pool >= Pools()) continue;
      allotted[s.pool] = s.count;
      slots += s.count;
    }
    JobView& view = *job.view;
    const bool gang = job.demand.min == job.demand.max;
    // `demand.max` is 0 where the job wants nothing now, but a unit of a job has at least one node.
    view.unit_nodes = gang ? std::max(1, job.demand.max) : 1;
    if (slots < view.unit_nodes && view.units.empty()) return;
    plan.units = Units(view, allotted, slots / view.unit_nodes);
    if (plan.units.empty()) return;
    std::vector<int> available(Pools());
    // A pool is shown with no more slots than the job could use, because more slots would only be more for the planner
    // to look at.
    const int most = view.unit_nodes * static_cast<int>(plan.units.size());
    for (int p = 0; p < Pools(); ++p) {
      const int left = IsFor(fleet_.pools[p], job.demand) ? std::max(0, left_[p]) : 0;
      available[p] = std::min(allotted[p] + left, most);
    }
    Decide(job, available, plan);
    for (int p = 0; p < Pools(); ++p) left_[p] += allotted[p];
    std::erase_if(plan.allotment.slots, [&](const Slots& s) { return s.pool < Pools(); });
    std::vector<int> now(Pools(), 0);
    for (const UnitView& unit : plan.units) {
      if (unit.pool != kNone) now[unit.pool] += view.unit_nodes;
    }
    for (int p = Pools() - 1; p >= 0; --p) {
      left_[p] -= now[p];
      if (now[p] > 0) plan.allotment.slots.insert(plan.allotment.slots.begin(), {p, now[p]});
    }
  }

  // Returns the units that the job keeps, as far as its allotment goes. Where there are too many, units that do not
  // work yet are dropped first, and then the newest.
  std::vector<UnitView> Units(const JobView& view, std::vector<int> allotted, int count) const {
    std::vector<UnitView> units;
    for (const bool starting : {false, true}) {
      for (const UnitView& unit : view.units) {
        if (unit.pool == kNone || (unit.starting_hours > 0) != starting) continue;
        if (static_cast<int>(units.size()) >= count || allotted[unit.pool] < view.unit_nodes) continue;
        allotted[unit.pool] -= view.unit_nodes;
        units.push_back(unit);
      }
    }
    // Units that run nowhere are kept, too: they hold the pool where they were interrupted, which the reason of an
    // action names.
    for (const UnitView& unit : view.units) {
      if (unit.pool == kNone && static_cast<int>(units.size()) < count) units.push_back(unit);
    }
    units.resize(count);
    return units;
  }

  void Decide(const CycleJob& job, const std::vector<int>& available, JobPlan& plan) {
    JobView& view = *job.view;
    PlanMemory& memory = *job.memory;
    const bool timely = view.deadline == kNever && job.policy.objective != Objective::kGreenest;
    const bool same = memory.settled && memory.available == available && memory.prices == prices_ &&
                      memory.speeds == job.demand.speeds && memory.units.size() == plan.units.size() &&
                      std::equal(plan.units.begin(), plan.units.end(), memory.units.begin(), SamePlace);
    if (same && (timely || job.hours < memory.hours + job.policy.period)) {
      plan.waits = memory.waits;
      return;
    }
    Show(job.emissions);
    for (int p = 0; p < Pools(); ++p) {
      fleet_.orders[p].available = available[p];
      fleet_.orders[p].speed = SpeedIn(job.demand, p);
    }
    const int most = view.unit_nodes > 1 ? 1 : std::max(1, job.demand.max);
    view.history.Observe(SpotSlots(fleet_.orders, view.unit_nodes), most, job.hours);
    // The nodes of pools that take no orders do a part of the job's work, so the planner is asked only about the rest.
    double others = 0;
    for (const Slots& s : plan.allotment.slots) others += s.pool < Pools() ? 0 : s.count * SpeedIn(job.demand, s.pool);
    const double helped = view.deadline == kNever ? 0 : others * std::max(0.0, view.deadline - job.hours);
    const double nodes = view.unit_nodes * static_cast<double>(plan.units.size());
    JobView asked = view;
    asked.units = plan.units;
    asked.total_hours = std::max(0.0, view.total_hours * job.demand.max - helped) / nodes;
    asked.hours_left = std::max(0.0, view.hours_left * job.demand.max - helped) / nodes;
    plan.actions = memory.planner.Plan(asked, fleet_.orders, job.policy, job.hours);
    memory.waits = plan.waits = memory.planner.waits();
    for (const Action& action : plan.actions) {
      UnitView& unit = plan.units[action.unit];
      const bool works_on = action.pool != kNone && unit.pool != kNone && unit.starting_hours <= 0;
      unit = {.pool = action.pool, .last_pool = unit.last_pool, .leaving = works_on ? unit.pool : kNone};
    }
    memory.settled = plan.actions.empty();
    memory.available = available;
    memory.prices = prices_;
    memory.speeds = job.demand.speeds;
    memory.units = plan.units;
    memory.hours = job.hours;
  }

  // `emissions` is null for a job that does not look at them.
  void Show(const std::vector<Emission>* emissions) {
    if (emissions == nullptr || emissions == shown_) return;
    shown_ = emissions;
    for (int p = 0; p < Pools(); ++p) {
      fleet_.orders[p].grams = (*emissions)[p].grams;
      fleet_.orders[p].expected_grams = (*emissions)[p].expected;
    }
  }

  FleetView& fleet_;
  const std::vector<CycleJob>& jobs_;
  std::vector<Allotment> shares_;
  // `left_` counts the slots of each pool that nobody was given.
  std::vector<int> left_;
  // `prices_` holds the prices of the pools that take orders.
  std::vector<double> prices_;
  // `shown_` are the emissions that `fleet_.orders` holds now.
  const std::vector<Emission>* shown_ = nullptr;
};

}  // namespace

std::vector<JobPlan> PlanCycle(FleetView& fleet, const std::vector<CycleJob>& jobs) {
  std::vector<Demand> demands;
  demands.reserve(jobs.size());
  for (const CycleJob& job : jobs) demands.push_back(job.demand);
  return Ordering(fleet, jobs, ShareOut(fleet.pools, fleet.teams, demands)).Run();
}

}  // namespace rekindle::scheduler
