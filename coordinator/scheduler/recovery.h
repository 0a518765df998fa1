// This file estimates how long it takes until a new node works, from what was measured.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_
#define REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_

#include <vector>

namespace rekindle::scheduler {

// Recovery knows the hours from a node's grant to its first work, and from a request for on-demand capacity to its
// grant. It is thread-compatible.
class Recovery {
 public:
  Recovery() = default;
  // `stated` is how long a start takes according to the job file, in hours.
  explicit Recovery(double stated) : stated_(stated) {}

  double stated() const { return stated_; }
  void State(double hours) { stated_ = hours; }
  void Started(double hours);
  void OnDemandWaited(double hours);

  // Returns the hours to plan for a start. That is the 95 % quantile of the last 40 measured starts. Before any was
  // measured, it is twice the stated time.
  double Start() const;
  // Returns the longest time for which on-demand capacity was waited for, in hours.
  double OnDemandWait() const { return on_demand_wait_; }
  // Returns the whole length to expect of a start that has already taken `taken` hours. A start that takes longer than
  // planned is expected to be half done.
  double Expected(double taken) const;

 private:
  double stated_ = 0;
  std::vector<double> measured_;
  // `start_` is the quantile of `measured_`. It is kept because it is read much more often than a start is measured.
  double start_ = 0;
  double on_demand_wait_ = 0;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_RECOVERY_H_
