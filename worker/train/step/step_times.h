// Measures the times of this rank's steps. Deadlines of the communicator come from them, but no training decision does.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_TIMES_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_TIMES_H_

#include <cstddef>
#include <deque>

namespace rekindle::train {

// StepTimes is thread-compatible.
class StepTimes {
 public:
  void AddStep(double seconds);
  // Returns the time of a step, smoothed over about 10 steps. It is 0 before the first.
  double step_seconds() const { return step_; }
  // Returns the 99th percentile of the newest 200 steps. It is 0 before the first.
  double step_seconds_p99() const;

 private:
  double step_ = 0;
  std::deque<double> newest_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_TIMES_H_
