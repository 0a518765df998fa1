#include "coordinator/fleet/simulator/simulate.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "coordinator/scheduler/offers.h"

namespace rekindle::fleet {
namespace {

using scheduler::Capacity;
using scheduler::kNever;
using scheduler::kNone;
using scheduler::PoolView;
using scheduler::UnitView;

constexpr size_t kMaxMoments = 10'000;
constexpr double kRounding = 1e-9;

class Play {
 public:
  Play(const World& world, const FleetJob& job, scheduler::Strategy& strategy, const Surprises& surprises)
      : world_(world), job_(job), strategy_(strategy), surprises_(surprises) {
    const int units = job.gang() ? 1 : job.max;
    view_.unit_nodes = job.gang() ? job.max : 1;
    view_.total_hours = view_.hours_left = job.hours;
    view_.deadline = job.deadline;
    view_.budget_left = job.budget;
    view_.units.resize(units);
    view_.recovery = scheduler::Recovery(job.start_hours);
    start_left_.resize(units, 0);
    changed_.resize(units, false);
    policy_ = job.policy;
    policy_.period = world.step_hours;
    for (const WorldPool& pool : world.pools) {
      pools_.push_back({.name = pool.name, .capacity = pool.capacity, .speed = pool.speed});
    }
  }

  Outcome Run() {
    for (step_ = 0; step_ < world_.steps && !out_.finished; ++step_) {
      now_ = step_ * world_.step_hours;
      UpdatePools();
      Reclaim();
      view_.history.Observe(scheduler::SpotSlots(pools_, view_.unit_nodes), static_cast<int>(view_.units.size()), now_);
      for (const scheduler::Action& action : strategy_.Plan(view_, pools_, policy_, now_)) Apply(action);
      Pass();
    }
    if (!out_.finished) out_.finish_hours = world_.steps * world_.step_hours;
    out_.missed = !out_.finished || out_.finish_hours > job_.deadline + kRounding;
    out_.over_budget = std::max(0.0, out_.cost - job_.budget);
    return std::move(out_);
  }

 private:
  bool green() const { return policy_.objective == scheduler::Objective::kGreenest; }

  void UpdatePools() {
    for (size_t p = 0; p < pools_.size(); ++p) {
      const WorldPool& pool = world_.pools[p];
      pools_[p].available = pool.Available(step_);
      pools_[p].price = pool.Price(step_);
      pools_[p].grams = pool.Grams(now_);
      if (!green() || pool.grams.empty()) continue;
      const double horizon = std::min(job_.deadline, 24.0 * 14) - now_ + 1;
      pools_[p].expected_grams = ForecastGrams(pool, now_, std::max(1, static_cast<int>(horizon)));
    }
    if (green()) ExpectTheWorst();
  }

  // A pool whose emissions are not known must not look clean. Its emissions count as a little more than the highest
  // known emissions.
  void ExpectTheWorst() {
    constexpr double kALittle = 1.001;
    double dirtiest = 0;
    for (const PoolView& pool : pools_) dirtiest = std::max(dirtiest, pool.grams);
    for (size_t p = 0; p < pools_.size(); ++p) {
      if (world_.pools[p].grams.empty()) pools_[p].grams = kALittle * dirtiest;
    }
  }

  // Takes back the spot nodes that the clouds do not let run any more. Where a pool has too many units, the newest lose
  // their place first.
  void Reclaim() {
    std::vector<int> room = scheduler::SpotSlots(pools_, view_.unit_nodes);
    for (int& slots : room) slots = slots < 0 ? static_cast<int>(view_.units.size()) : slots;
    for (size_t u = 0; u < view_.units.size(); ++u) {
      UnitView& unit = view_.units[u];
      changed_[u] = false;
      if (unit.leaving != kNone && --room[unit.leaving] < 0) {
        Note(absl::StrCat(pools_[unit.leaving].name, " takes back ", Name(static_cast<int>(u))));
        unit.leaving = kNone;
        ++out_.interruptions;
        any_change_ = true;
      }
      if (unit.pool == kNone || --room[unit.pool] >= 0) continue;
      Note(absl::StrCat(pools_[unit.pool].name, " takes back ", Name(static_cast<int>(u))));
      unit = {.pool = unit.leaving, .last_pool = unit.pool};
      start_left_[u] = 0;
      ++out_.interruptions;
      any_change_ = true;
    }
  }

  void Apply(const scheduler::Action& action) {
    UnitView& unit = view_.units[action.unit];
    if (action.pool != kNone && pools_[action.pool].capacity == Capacity::kOnDemand && Refused()) return;
    const std::string where = action.pool == kNone ? "stops" : absl::StrCat("starts in ", pools_[action.pool].name);
    Note(absl::StrCat(Name(action.unit), " ", where, ": ", action.reason));
    const bool works_on = !job_.gang() && action.pool != kNone && unit.pool != kNone && unit.starting_hours <= 0;
    unit = {.pool = action.pool, .last_pool = unit.last_pool, .leaving = works_on ? unit.pool : kNone};
    start_left_[action.unit] = 0;
    any_change_ = true;
    if (action.pool == kNone) return;
    start_left_[action.unit] = job_.start_hours * surprises_.start_factor;
    unit.starting_hours = kRounding;
    if (start_left_[action.unit] <= 0) unit = {.pool = unit.pool, .last_pool = unit.last_pool};
    changed_[action.unit] = true;
    ++out_.starts;
    ++view_.starts;
  }

  // Returns whether the cloud refuses on-demand capacity, which it does for a while after the job first asked for it.
  bool Refused() {
    if (surprises_.on_demand_refusal <= 0) return false;
    if (asked_ < 0 || now_ - last_asked_ > 2 * world_.step_hours) asked_ = now_;
    last_asked_ = now_;
    if (now_ - asked_ >= surprises_.on_demand_refusal - kRounding) {
      asked_ = -1;
      return false;
    }
    view_.recovery.OnDemandWaited(now_ - asked_ + world_.step_hours);
    return true;
  }

  // Lets the time of the step pass. Each unit first waits until its start is over, and then works.
  void Pass() {
    std::vector<Worker> workers;
    for (size_t u = 0; u < view_.units.size(); ++u) {
      const UnitView& unit = view_.units[u];
      if (unit.pool == kNone) continue;
      const bool starts = start_left_[u] > 0 && unit.leaving == kNone;
      workers.push_back({starts                        ? start_left_[u]
                         : any_change_ && !changed_[u] ? job_.pause_hours
                                                       : 0,
                         pools_[unit.leaving == kNone ? unit.pool : unit.leaving].speed});
    }
    any_change_ = false;
    std::sort(workers.begin(), workers.end(), [](const Worker& a, const Worker& b) { return a.begin < b.begin; });
    const int least = job_.gang() ? 1 : job_.min;
    if (static_cast<int>(workers.size()) >= least) {
      const double earliest = workers[least - 1].begin;
      for (Worker& worker : workers) worker.begin = std::max(worker.begin, earliest);
    } else {
      workers.clear();
    }
    const double took = std::min(world_.step_hours, TimeFor(workers, view_.hours_left * view_.units.size()));
    double worked = 0, done = 0;
    for (const Worker& worker : workers) {
      const double hours = std::max(0.0, took - worker.begin);
      worked += hours;
      done += hours * worker.speed;
    }
    view_.hours_left -= done / static_cast<double>(view_.units.size());
    out_.useful_hours += worked * view_.unit_nodes;
    Pay(took, worked);
    if (view_.hours_left > kRounding) return;
    out_.finished = true;
    out_.finish_hours = now_ + took;
    Note("finished");
  }

  struct Worker {
    // `begin` is when the unit begins to work, in hours from the beginning of the step.
    double begin = 0;
    double speed = 1;
  };

  // Returns the hours after which `workers` have done `work` together. REQUIRES: `workers` is sorted by `begin`.
  static double TimeFor(const std::vector<Worker>& workers, double work) {
    double time = 0, rate = 0;
    for (size_t working = 0; working < workers.size(); ++working) {
      const double until = working + 1 < workers.size() ? workers[working + 1].begin : kNever;
      time = workers[working].begin;
      rate += workers[working].speed;
      if (work <= rate * (until - time) + kRounding) return time + work / rate;
      work -= rate * (until - time);
    }
    return kNever;
  }

  void Pay(double took, double worked) {
    double paid = 0;
    for (size_t u = 0; u < view_.units.size(); ++u) {
      UnitView& unit = view_.units[u];
      if (unit.pool == kNone) continue;
      paid += PayPool(unit.pool, took);
      if (unit.leaving != kNone) paid += PayPool(unit.leaving, std::min(took, start_left_[u]));
      if (start_left_[u] <= 0) continue;
      unit.starting_hours += std::min(start_left_[u], took);
      start_left_[u] -= took;
      if (start_left_[u] > kRounding) continue;
      view_.recovery.Started(unit.starting_hours);
      unit.starting_hours = start_left_[u] = 0;
      unit.leaving = kNone;
    }
    out_.start_hours += paid - worked * view_.unit_nodes;
    view_.budget_left = job_.budget - out_.cost;
  }

  // Pays for one unit in the pool for `took` hours, and returns the node-hours paid.
  double PayPool(int p, double took) {
    const PoolView& pool = pools_[p];
    const double hours = took * view_.unit_nodes;
    out_.cost += hours * pool.price;
    const bool known = !world_.pools[p].grams.empty();
    (known ? out_.grams : out_.unknown_carbon_hours) += known ? hours * pool.grams : hours;
    (pool.capacity == Capacity::kSpot ? out_.spot_hours : out_.on_demand_hours) += hours;
    return hours;
  }

  std::string Name(int unit) const { return job_.gang() ? "the job" : absl::StrCat("node ", unit + 1); }
  void Note(std::string text) {
    if (out_.timeline.size() < kMaxMoments) out_.timeline.push_back({now_, std::move(text)});
  }

  const World& world_;
  const FleetJob& job_;
  scheduler::Strategy& strategy_;
  const Surprises& surprises_;
  scheduler::Policy policy_;
  scheduler::JobView view_;
  std::vector<PoolView> pools_;
  // `start_left_` is how long the start of each unit really still takes.
  std::vector<double> start_left_;
  // `changed_` marks the units that were started in the present step.
  std::vector<bool> changed_;
  bool any_change_ = false;
  int step_ = 0;
  double now_ = 0;
  double asked_ = -1;
  double last_asked_ = -1;
  Outcome out_;
};

}  // namespace

Outcome Simulate(const World& world, const FleetJob& job, scheduler::Strategy& strategy, const Surprises& surprises) {
  return Play(world, job, strategy, surprises).Run();
}

}  // namespace rekindle::fleet
