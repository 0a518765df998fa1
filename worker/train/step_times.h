// Measured times of this rank: what ranges and deadlines are made from. No training decision reads them.
#ifndef REKINDLE_WORKER_TRAIN_STEP_TIMES_H_
#define REKINDLE_WORKER_TRAIN_STEP_TIMES_H_

#include <cstddef>
#include <deque>

namespace rekindle::train {

// Thread-compatible.
class StepTimes {
 public:
  void AddMicroBatch(double seconds);
  void AddStep(double seconds);
  // Smoothed over about 10; 0 before the first.
  double micro_batch_seconds() const { return micro_batch_; }
  double step_seconds() const { return step_; }
  // 99th percentile of the newest 200 steps; 0 before the first.
  double step_seconds_p99() const;

 private:
  double micro_batch_ = 0;
  double step_ = 0;
  std::deque<double> newest_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_TIMES_H_
