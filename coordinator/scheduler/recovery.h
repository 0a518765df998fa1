// How long it takes until a new node works, as far as it was measured.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_
#define REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_

#include <vector>

namespace rekindle::scheduler {

// Hours from a node's grant to its first work, and from asking for on-demand capacity to its grant. Thread-compatible.
class Recovery {
 public:
  Recovery() = default;
  // `stated`: what the job file says of a start.
  explicit Recovery(double stated) : stated_(stated) {}

  double stated() const { return stated_; }
  void State(double hours) { stated_ = hours; }
  void Started(double hours);
  void OnDemandWaited(double hours);

  // What to plan a start with: the 95 % quantile of the last 40 measured; before any, twice what was stated.
  double Start() const;
  // The longest that on-demand capacity was waited for.
  double OnDemandWait() const { return on_demand_wait_; }
  // The whole length to expect of a start that has already taken so long: outlasting the plan, it may be half-way.
  double Expected(double taken) const;

 private:
  double stated_ = 0;
  std::vector<double> measured_;
  double start_ = 0;  // Of those: asked for much more often than measured.
  double on_demand_wait_ = 0;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_
