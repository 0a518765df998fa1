// Measured times of this rank's steps: what deadlines are made from. No training decision reads them.
#ifndef REKINDLE_WORKER_TRAIN_STEP_TIMES_H_
#define REKINDLE_WORKER_TRAIN_STEP_TIMES_H_

#include <cstddef>
#include <deque>

namespace rekindle::train {

// Thread-compatible.
class StepTimes {
 public:
  void AddStep(double seconds);
  // Smoothed over about 10; 0 before the first.
  double step_seconds() const { return step_; }
  // 99th percentile of the newest 200 steps; 0 before the first.
  double step_seconds_p99() const;

 private:
  double step_ = 0;
  std::deque<double> newest_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_TIMES_H_
