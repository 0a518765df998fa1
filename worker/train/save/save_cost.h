// Measures what a checkpoint costs. One part is the number of seconds by which it lengthens training: the wait before
// the optimizer, and the slowdown of the steps that run beside the save. The other part is the time until the
// checkpoint is durable. The code is pure: the caller passes all times.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_SAVE_COST_H_
#define REKINDLE_WORKER_TRAIN_SAVE_SAVE_COST_H_

#include <cstddef>
#include <deque>

namespace rekindle::train {

// SaveCost is thread-compatible.
class SaveCost {
 public:
  // Forgets the times of steps, because the usual time of a step has changed with the world size. A save that was in
  // flight is not measured.
  void ForgetSteps();

  // Records that a step took `seconds`. `usual` says that it contained only training and checkpoints, so no evaluation
  // and no interruption.
  void Step(double seconds, bool usual);

  // Records that a save begins at `now`. It may lengthen every step until it is durable or lost.
  void Begun(double now);
  void Stalled(double seconds);
  void Durable(double now);
  void Lost() { in_flight_ = false; }

  bool in_flight() const { return in_flight_; }
  double begun_at() const { return begun_at_; }

  // Returns whether a save has been measured, so that training_seconds() and durable_seconds() are valid. They are
  // medians over the newest saves, so that one slow write does not count.
  bool measured() const { return !training_.empty(); }
  double training_seconds() const;
  double durable_seconds() const;

 private:
  // `usual_steps_` holds the times of steps without a save in flight.
  std::deque<double> usual_steps_;
  // For each of the newest saves, `training_` holds the seconds by which it lengthened training, and `durable_` holds
  // the seconds until its checkpoint was durable.
  std::deque<double> training_;
  std::deque<double> durable_;
  bool in_flight_ = false;
  double begun_at_ = 0;
  double stalled_ = 0;
  double slowed_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_SAVE_COST_H_
