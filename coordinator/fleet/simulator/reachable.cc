#include "coordinator/fleet/simulator/reachable.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "coordinator/fleet/simulator/optimum.h"

namespace rekindle::fleet {
namespace {

using scheduler::Allowed;
using scheduler::Capacity;
using scheduler::kNever;

constexpr double kRounding = 1e-9;

// Returns the earliest finish of a gang. It computes the most work that can be done by each moment, in each pool and
// over all pools. A start counts as work that is owed. A job that waits keeps its work. More work is never worse, so
// one figure for each pool is enough.
Finish GangFinish(const World& world, const FleetJob& job) {
  struct Done {
    double work = -kNever;
    double cost = 0;
    bool operator<(const Done& other) const { return std::pair(work, -cost) < std::pair(other.work, -other.cost); }
  };
  std::vector<Done> in(world.pools.size());
  Done best{.work = 0};
  for (int step = 0; step < world.steps; ++step) {
    Finish finish;
    for (size_t p = 0; p < in.size(); ++p) {
      const WorldPool& pool = world.pools[p];
      if (pool.Available(step) < job.max) {
        in[p] = {};
        continue;
      }
      in[p] = std::max(in[p], Done{best.work - job.start_hours * pool.speed, best.cost});
      const double price = pool.Price(step) * job.max;
      const double left = (job.hours - in[p].work) / pool.speed;
      const Finish here = {step * world.step_hours + left, in[p].cost + price * left};
      const bool sooner = here.hours < finish.hours - kRounding;
      if (left <= world.step_hours + kRounding &&
          (sooner || (here.hours < finish.hours + kRounding && here.cost < finish.cost))) {
        finish = here;
      }
      in[p] = {in[p].work + world.step_hours * pool.speed, in[p].cost + price * world.step_hours};
    }
    if (finish.hours < kNever) return finish;
    for (const Done& done : in) best = std::max(best, done);
  }
  return {};
}

// A SlidingLeast returns the least of the newest `length` values.
class SlidingLeast {
 public:
  explicit SlidingLeast(int length) : length_(length) {}
  int Push(int step, int value) {
    while (!least_.empty() && least_.back().second >= value) least_.pop_back();
    least_.emplace_back(step, value);
    if (least_.front().first <= step - length_) least_.pop_front();
    return least_.front().second;
  }

 private:
  int length_;
  std::deque<std::pair<int, int>> least_;
};

// ElasticFinish finds the earliest finish of an elastic job. A node works only where its pool had room for it during
// its whole start, so the work in a pool is limited by the least room that the pool had during a start. The nodes of
// `early` work from the beginning of the step, and those of `late` from `offset_` hours later.
class ElasticFinish {
 public:
  ElasticFinish(const World& world, const FleetJob& job)
      : world_(world), job_(job), started_(static_cast<int>(job.start_hours / world.step_hours + kRounding)) {
    offset_ = std::max(0.0, job.start_hours - started_ * world.step_hours);
    if (offset_ < kRounding) offset_ = 0;
    late_.assign(world.pools.size(), SlidingLeast(started_ + 1));
    early_.assign(world.pools.size(), SlidingLeast(started_ + (offset_ > 0 ? 2 : 1)));
    fastest_first_.resize(world.pools.size());
    std::iota(fastest_first_.begin(), fastest_first_.end(), 0);
    std::stable_sort(fastest_first_.begin(), fastest_first_.end(),
                     [&](size_t a, size_t b) { return world.pools[a].speed > world.pools[b].speed; });
  }

  Finish Run() {
    double left = job_.hours * job_.max;
    double cost = 0;
    int most = 0;
    for (int step = 0; step < world_.steps; ++step) {
      const auto [early, late] = Working(step);
      const double worked = early.speed * offset_ + late.speed * (world_.step_hours - offset_);
      const double price = late.nodes > 0 ? Price(step, late.nodes) : 0;
      const double work_price = late.nodes > 0 ? price / (late.speed / late.nodes) : 0;
      if (late.nodes > most) cost += (late.nodes - most) * job_.start_hours * price;
      most = std::max(most, late.nodes);
      if (late.nodes > 0 && worked >= left - kRounding) {
        const bool at_once = early.nodes > 0 && early.speed * offset_ >= left;
        const double took = at_once ? left / early.speed : offset_ + (left - early.speed * offset_) / late.speed;
        return {step * world_.step_hours + took, cost + work_price * left};
      }
      left -= worked;
      cost += work_price * worked;
    }
    return {};
  }

 private:
  struct Nodes {
    int nodes = 0;
    // `speed` is the sum of the speeds of the nodes that `nodes` counts.
    double speed = 0;
  };

  void Add(int nodes, double speed, Nodes* to) const {
    nodes = std::min(nodes, job_.max - to->nodes);
    to->nodes += nodes;
    to->speed += nodes * speed;
  }

  // Returns the nodes that work from the beginning of the step, and the nodes that work from `offset_` hours later.
  std::pair<Nodes, Nodes> Working(int step) {
    Nodes early, late;
    for (const size_t p : fastest_first_) {
      const WorldPool& pool = world_.pools[p];
      const int nodes = std::min(job_.max, pool.Available(step));
      const int all = late_[p].Push(step, nodes);
      const int long_there = early_[p].Push(step, nodes);
      if (step >= started_) Add(all, pool.speed, &late);
      if (step >= started_ + (offset_ > 0 ? 1 : 0)) Add(long_there, pool.speed, &early);
    }
    return {early.nodes < job_.min ? Nodes() : early, late.nodes < job_.min ? Nodes() : late};
  }

  // Returns the mean price of the `nodes` cheapest nodes in the step.
  double Price(int step, int nodes) {
    offers_.clear();
    for (const WorldPool& pool : world_.pools) offers_.emplace_back(pool.Price(step), pool.Available(step));
    std::sort(offers_.begin(), offers_.end());
    double sum = 0;
    int left = nodes;
    for (const auto& [price, available] : offers_) {
      const int taken = std::min(left, available);
      sum += taken * price;
      left -= taken;
    }
    return sum / nodes;
  }

  const World& world_;
  const FleetJob& job_;
  // The start of a node takes `started_` whole steps and `offset_` hours.
  const int started_;
  double offset_ = 0;
  std::vector<SlidingLeast> late_, early_;
  std::vector<size_t> fastest_first_;
  std::vector<std::pair<double, int>> offers_;
};

absl::Status CheckBudget(const World& world, const FleetJob& job) {
  if (job.budget == kNever) return absl::OkStatus();
  absl::StatusOr<double> least = LeastCost(world, job);
  // The bound for an elastic job also holds for a gang, but may be lower than the gang's least cost.
  if (!least.ok()) least = ElasticBound(AllowedTo(job, world), job);
  if (!least.ok() || *least <= job.budget || *least == kNever) return absl::OkStatus();
  FleetJob unbounded = job;
  unbounded.budget = kNever;
  scheduler::Planner planner;
  const Outcome planned = Simulate(world, unbounded, planner);
  const std::string needs = planned.missed ? "" : absl::StrFormat(", and %.2f without that knowledge", planned.cost);
  return absl::FailedPreconditionError(
      absl::StrFormat("spec.goals.budget: %.2f is too small: even with perfect knowledge of the traces the job costs "
                      "%.2f%s; allow at least %.2f, or a later deadline",
                      job.budget, *least, needs, planned.missed ? *least : std::max(*least, planned.cost)));
}

}  // namespace

World AllowedTo(const FleetJob& job, const World& world) {
  World out = world;
  std::erase_if(out.pools, [&](const WorldPool& pool) {
    return (job.policy.capacity == Allowed::kSpot && pool.capacity != Capacity::kSpot) ||
           (job.policy.capacity == Allowed::kOnDemand && pool.capacity != Capacity::kOnDemand);
  });
  return out;
}

Finish EarliestFinish(const World& world, const FleetJob& job) {
  const World allowed = AllowedTo(job, world);
  return job.gang() ? GangFinish(allowed, job) : ElasticFinish(allowed, job).Run();
}

absl::StatusOr<double> LeastCost(const World& world, const FleetJob& job) {
  const World allowed = AllowedTo(job, world);
  return job.gang() ? GangOptimum(allowed, job) : ElasticBound(allowed, job);
}

absl::Status CheckDeadline(const World& world, const FleetJob& job) {
  const Finish earliest = EarliestFinish(world, job);
  const char* on = job.policy.capacity == Allowed::kSpot       ? " on spot capacity alone"
                   : job.policy.capacity == Allowed::kOnDemand ? " on on-demand capacity alone"
                                                               : "";
  if (earliest.hours == kNever) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the job cannot finish%s within the %.1f h of the traces: add pools or longer traces, or ask "
                        "for less work",
                        on, world.steps * world.step_hours));
  }
  if (earliest.hours <= job.deadline + kRounding) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("spec.goals.deadline_hours: %.2f is impossible on this fleet: the earliest finish%s is after "
                      "%.2f h, for %.2f; allow at least that, or add pools or workers",
                      job.deadline, on, earliest.hours, earliest.cost));
}

absl::Status CheckReachable(const World& world, const FleetJob& job) {
  if (absl::Status status = CheckDeadline(world, job); !status.ok()) return status;
  return CheckBudget(world, job);
}

}  // namespace rekindle::fleet
