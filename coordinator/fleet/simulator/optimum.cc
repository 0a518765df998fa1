#include "coordinator/fleet/simulator/optimum.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

using scheduler::kNever;

constexpr int kMaxParts = 40'000;
// The dynamic program may update `kMaxUpdates` cells, which takes about two seconds.
constexpr double kMaxUpdates = 8e9;
// The tables of the dynamic program may take `kMaxBytes` bytes.
constexpr double kMaxBytes = 256 << 20;
// The number of pools times the number of steps that ElasticBound looks at is at most `kMaxBoundCells`. ElasticBound
// needs 16 bytes for each pool and step.
constexpr double kMaxBoundCells = 16e6;
constexpr double kRounding = 1e-9;

absl::Status TooLarge(const World& world) {
  return absl::ResourceExhaustedError(absl::StrCat(world.steps, " steps of ", world.pools.size(),
                                                   " pools are too many for it: choose a longer --step"));
}

int StepsUntil(const World& world, double end) {
  return static_cast<int>(std::min<double>(world.steps, std::ceil(end / world.step_hours - kRounding)));
}

// A GangProgram finds the least cost of a gang by dynamic programming, with one cell for each amount of work done and
// each place. Place 0 is no pool, and all other places are pools. Work is counted in parts of a step. It begins below
// 0, at minus the length of a start, because a start counts as work that is owed. For each step the program only looks
// at the amounts of work that can have been done by then, and from which the rest can still be done in time.
class GangProgram {
 public:
  GangProgram(const World& world, const FleetJob& job) : world_(world), job_(job) {
    end_ = std::min(job.deadline, world.steps * world.step_hours);
    steps_ = StepsUntil(world, end_);
    gained_ = 8;
    while (gained_ > 1 && (job.hours / world.step_hours * gained_ > kMaxParts || !Fits())) gained_ /= 2;
    part_ = world.step_hours / gained_;
    goal_ = static_cast<int>(std::ceil(std::min(1e9, job.hours / part_) - kRounding));
    start_ = job.start_hours > 0 ? std::max(1, static_cast<int>(std::lround(job.start_hours / part_))) : 0;
  }

  // Returns whether the dynamic program stays within its limits with the present number of parts in a step.
  bool Fits() const {
    const double goal = job_.hours / world_.step_hours * gained_;
    const double start = job_.start_hours / world_.step_hours * gained_ + 1;
    const double places = static_cast<double>(world_.pools.size()) + 1;
    const double band = std::clamp(static_cast<double>(steps_) * gained_ - goal + gained_ + start, 0.0, goal + start);
    return places * (goal + start + 2) * 2 * sizeof(float) <= kMaxBytes && 2 * places * steps_ * band <= kMaxUpdates;
  }

  double Run() {
    if (goal_ > static_cast<int64_t>(steps_) * gained_) return kNever;
    cost_.assign(world_.pools.size() + 1, std::vector<float>(goal_ + start_ + 1, kForbidden));
    next_ = cost_;
    cost_[0][start_] = 0;
    for (int step = 0; step < steps_; ++step) {
      const double length = std::min(world_.step_hours, end_ - step * world_.step_hours);
      Step(step, static_cast<int>(std::floor(length / part_ + kRounding)));
    }
    return best_ >= kForbidden ? kNever : best_;
  }

 private:
  static constexpr float kForbidden = 1e18F;

  // Low and High are the least and the most work that the program looks at before a step. Cells above High are not
  // written, and cells below Low are not read.
  int Low(int step) const {
    return static_cast<int>(std::max<int64_t>(0, Last() - static_cast<int64_t>(steps_ - step) * gained_));
  }
  int High(int step) const {
    return static_cast<int>(std::min<int64_t>(Last(), start_ + static_cast<int64_t>(step) * gained_));
  }
  int Last() const { return goal_ + start_; }

  void Step(int step, int gained) {
    const int low = Low(step);
    const int high = High(step);
    std::vector<float>& anywhere = next_[0];
    std::copy(cost_[0].begin() + low, cost_[0].begin() + high + 1, anywhere.begin() + low);
    for (size_t place = 1; place < cost_.size(); ++place) {
      const float* at = cost_[place].data();
      for (int i = low; i <= high; ++i) anywhere[i] = std::min(anywhere[i], at[i]);
    }
    for (size_t place = 1; place < cost_.size(); ++place) {
      const WorldPool& pool = world_.pools[place - 1];
      std::vector<float>& next = next_[place];
      const bool there = pool.Available(step) >= job_.max && gained > 0;
      // A cell of the dynamic program is forbidden if the gang cannot get to it by working in the step.
      const int filled = there ? std::min(Last() + 1, low + gained) : High(step + 1) + 1;
      std::fill(next.begin() + std::min(filled, Low(step + 1)), next.begin() + filled, kForbidden);
      if (there) Work(place, low, high, static_cast<float>(pool.Price(step) * job_.max * part_), gained);
    }
    std::swap(cost_, next_);
  }

  // Lets the gang go on in the pool `place` for one step, or start there from any other place.
  void Work(size_t place, int low, int high, float part_price, int gained) {
    const float* at = cost_[place].data();
    const float* from = next_[0].data() + start_;
    float* next = next_[place].data() + gained;
    const float price = part_price * static_cast<float>(gained);
    // `goes_on` is the last cell from which a whole step of work does not finish the job yet.
    const int goes_on = std::min(high, Last() - gained - 1);
    // `starts` is the last cell that a start in the place can lead to.
    const int starts = std::min(goes_on, Last() - start_);
    for (int i = low; i <= starts; ++i) next[i] = std::min(at[i], from[i]) + price;
    for (int i = std::max(low, starts + 1); i <= goes_on; ++i) next[i] = at[i] + price;
    for (int i = std::max(low, goes_on + 1); i <= high; ++i) {
      // In the step that finishes the job only the missing work is paid for, which may be a fraction of the last part.
      const double missing = (Last() - i) - (goal_ - job_.hours / part_);
      const float paid = i <= Last() - start_ ? std::min(at[i], from[i]) : at[i];
      if (paid < kForbidden) best_ = std::min(best_, paid + part_price * missing);
    }
  }

  const World& world_;
  const FleetJob& job_;
  // `end_` is the deadline of the gang or the end of the world, whichever is earlier, in hours.
  double end_ = 0;
  // `steps_` is the number of steps until `end_`.
  int steps_ = 0;
  // `gained_` is the number of parts in a whole step.
  int gained_ = 1;
  // `part_` is the length of a part of a step, in hours.
  double part_ = 0;
  // `goal_` is the work of the whole job, in parts of a step.
  int goal_ = 0;
  int start_ = 0;
  double best_ = kForbidden;
  std::vector<std::vector<float>> cost_, next_;
};

bool EquallyFast(const World& world) {
  return std::all_of(world.pools.begin(), world.pools.end(), [](const WorldPool& pool) { return pool.speed == 1; });
}

}  // namespace

absl::StatusOr<double> GangOptimum(const World& world, const FleetJob& job) {
  if (!EquallyFast(world)) {
    return absl::UnimplementedError("it is not known where pools differ in speed: no exact search is made then");
  }
  GangProgram program(world, job);
  if (!program.Fits()) return TooLarge(world);
  return program.Run();
}

absl::StatusOr<double> ElasticBound(const World& world, const FleetJob& job) {
  const double end = std::min(job.deadline, world.steps * world.step_hours);
  const int steps = StepsUntil(world, end);
  if (static_cast<double>(steps) * static_cast<double>(world.pools.size()) > kMaxBoundCells) return TooLarge(world);
  const bool equal = EquallyFast(world);
  // An offer is the price of an hour's work, and how many such hours can be bought for it.
  std::vector<std::pair<double, double>> offers;
  std::vector<std::tuple<double, double, int>> now;
  for (int step = 0; step < steps; ++step) {
    const double length = std::min(world.step_hours, end - step * world.step_hours);
    now.clear();
    for (const WorldPool& pool : world.pools) {
      now.emplace_back(pool.Price(step) / pool.speed, pool.speed, pool.Available(step));
    }
    std::sort(now.begin(), now.end());
    int nodes = job.max;
    for (const auto& [price, speed, available] : now) {
      const int taken = std::min(nodes, available);
      if (taken > 0) offers.emplace_back(price, taken * length * speed);
      if (equal) nodes -= taken;
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
