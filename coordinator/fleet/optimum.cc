#include "coordinator/fleet/optimum.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace rekindle::fleet {
namespace {

using scheduler::kNever;

constexpr int kMaxParts = 40'000;
constexpr double kRounding = 1e-9;

// Least cost by work done (in parts, from -start on: a start is owed work), for each place; place 0 is nowhere.
class GangProgram {
 public:
  GangProgram(const World& world, const SimulatedJob& job) : world_(world), job_(job) {
    int parts = 8;
    while (parts > 1 && job.hours / world.step_hours * parts > kMaxParts) parts /= 2;
    part_ = world.step_hours / parts;
    goal_ = static_cast<int>(std::ceil(job.hours / part_ - kRounding));
    start_ = job.start_hours > 0 ? std::max(1, static_cast<int>(std::lround(job.start_hours / part_))) : 0;
    cost_.assign(world.pools.size() + 1, std::vector<float>(goal_ + start_ + 1, kForbidden));
    next_ = cost_;
    cost_[0][start_] = 0;
  }

  double Run() {
    const double end = std::min(job_.deadline, world_.steps * world_.step_hours);
    for (int step = 0; step < world_.steps && step * world_.step_hours < end; ++step) {
      const double length = std::min(world_.step_hours, end - step * world_.step_hours);
      Step(step, static_cast<int>(std::floor(length / part_ + kRounding)));
    }
    return best_ >= kForbidden ? kNever : best_;
  }

 private:
  static constexpr float kForbidden = 1e18F;

  void Step(int step, int gained) {
    std::vector<float>& anywhere = next_[0];
    anywhere = cost_[0];
    for (size_t place = 1; place < cost_.size(); ++place) {
      for (size_t i = 0; i < anywhere.size(); ++i) anywhere[i] = std::min(anywhere[i], cost_[place][i]);
    }
    for (size_t place = 1; place < cost_.size(); ++place) {
      std::fill(next_[place].begin(), next_[place].end(), kForbidden);
      const WorldPool& pool = world_.pools[place - 1];
      if (pool.Available(step) < job_.max || gained == 0) continue;
      Run(place, static_cast<float>(pool.Price(step) * job_.max * part_), gained);
    }
    std::swap(cost_, next_);
  }

  void Run(size_t place, float part_price, int gained) {
    const std::vector<float>& anywhere = next_[0];
    const int size = static_cast<int>(anywhere.size());
    for (int i = 0; i < size; ++i) {
      float from = cost_[place][i];
      if (i + start_ < size) from = std::min(from, anywhere[i + start_]);
      if (from >= kForbidden) continue;
      if (i + gained < size - 1) {
        next_[place][i + gained] = std::min(next_[place][i + gained], from + part_price * static_cast<float>(gained));
      } else {
        // Only as much as is missing; the last part may be begun.
        const double missing = (size - 1 - i) - (goal_ - job_.hours / part_);
        best_ = std::min(best_, from + part_price * missing);
      }
    }
  }

  const World& world_;
  const SimulatedJob& job_;
  double part_ = 0;  // Hours.
  int goal_ = 0;     // Parts.
  int start_ = 0;
  double best_ = kForbidden;
  std::vector<std::vector<float>> cost_, next_;
};

}  // namespace

double GangOptimum(const World& world, const SimulatedJob& job) { return GangProgram(world, job).Run(); }

double ElasticBound(const World& world, const SimulatedJob& job) {
  std::vector<std::pair<double, double>> offers;  // (price, node-hours)
  const double end = std::min(job.deadline, world.steps * world.step_hours);
  for (int step = 0; step < world.steps && step * world.step_hours < end; ++step) {
    const double length = std::min(world.step_hours, end - step * world.step_hours);
    std::vector<std::pair<double, int>> now;
    for (const WorldPool& pool : world.pools) now.emplace_back(pool.Price(step), pool.Available(step));
    std::sort(now.begin(), now.end());
    int nodes = job.max;
    for (const auto& [price, available] : now) {
      const int taken = std::min(nodes, available);
      if (taken > 0) offers.emplace_back(price, taken * length);
      nodes -= taken;
    }
  }
  std::sort(offers.begin(), offers.end());
  double left = job.hours * job.max;
  double cost = 0;
  for (const auto& [price, hours] : offers) {
    const double taken = std::min(left, hours);
    cost += price * taken;
    left -= taken;
  }
  return left > kRounding ? kNever : cost;
}

}  // namespace rekindle::fleet
