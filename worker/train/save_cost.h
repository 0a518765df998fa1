// What a checkpoint costs, measured: the seconds by which it lengthens training (the wait before the optimizer and the
// slowdown of the steps beside it), and the seconds until it is durable. Pure: times come in.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_COST_H_
#define REKINDLE_WORKER_TRAIN_SAVE_COST_H_

#include <cstddef>
#include <deque>

namespace rekindle::train {

// Thread-compatible.
class SaveCost {
 public:
  // The usual time of a step has changed (another world size): what steps took before is no measure any more.
  // A save that was in flight is not measured.
  void ForgetSteps();

  // A step took `seconds`; `usual`: nothing but training and checkpoints was in it (no evaluation, no interruption).
  void Step(double seconds, bool usual);

  // A save begins at `now`; it may lengthen every step until it is durable, or lost.
  void Begun(double now);
  void Stalled(double seconds);
  void Durable(double now);
  void Lost() { in_flight_ = false; }

  bool in_flight() const { return in_flight_; }
  double begun_at() const { return begun_at_; }

  // Medians of the newest saves: one slow write among them does not count. Valid when measured().
  bool measured() const { return !training_.empty(); }
  double training_seconds() const;
  double durable_seconds() const;

 private:
  std::deque<double> usual_steps_;  // Of steps without a save in flight.
  std::deque<double> training_;     // Of the newest saves.
  std::deque<double> durable_;
  bool in_flight_ = false;
  double begun_at_ = 0;
  double stalled_ = 0;
  double slowed_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_COST_H_
