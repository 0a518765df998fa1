// When to take a checkpoint. Pure: facts and times come in, the decision and the reason of its interval go out.
//
// `auto` balances what saves cost against what an interruption throws away. To first order the best interval is
// sqrt(2 C M), with C the seconds that a save costs training and M the mean time between interruptions: J. W. Young,
// "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974. J. T. Daly, "A higher order
// estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006, adds what matters where C is not
// small beside M. The time of a restart, and the time from a save's begin until it is durable, are lost at every
// interruption whatever the interval: they do not move the optimum.
//
// Clocks of ranks differ, so rank 0 decides and announces it in the step's message; this serves every rank, so that
// whoever is rank 0 next knows what was measured. No number that training computes depends on it.
#ifndef REKINDLE_WORKER_TRAIN_CHECKPOINT_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_CHECKPOINT_SCHEDULE_H_

#include <cstdint>
#include <string>

#include "worker/train/save_cost.h"
#include "worker/train/spec.h"

namespace rekindle::train {

// What the job went through until the running generation began, and where it runs now.
struct InterruptionRecord {
  int nodes = 1;
  int interruptions = 0;
  double node_hours = 0;  // In which those happened.
};

// Seconds from the begin of one save to the begin of the next that lose least: Daly's estimate.
// Preconditions: save_seconds > 0, mean_seconds > 0; mean_seconds may be infinite.
double BestInterval(double save_seconds, double mean_seconds);

// Times are seconds of any one clock. Thread-compatible.
class CheckpointSchedule {
 public:
  explicit CheckpointSchedule(const CheckpointSpec& spec);

  // A generation begins. A save in flight has ended with the one before.
  void Joined(double now, const InterruptionRecord& record);
  // The state at `step` is the initial one, or was restored from the store: nothing is at risk.
  void Restarted(double now, int64_t step);
  // A step took `seconds`; see SaveCost::Step.
  void StepDone(double seconds, bool usual);
  // A save of the state at `step` begins. Training waited for it to be copied.
  void Begun(double now, int64_t step);
  void Stalled(double seconds);
  // The checkpoint of `step` is now known to be durable. One that is no newer than the newest known changes nothing.
  void Durable(double now, int64_t step);
  // The save in flight failed. It is tried again soon, not at once.
  void Failed(double now);

  // Whether the state at `step`, which is reached in about `step_seconds`, is to be saved.
  bool Due(double now, int64_t step, double step_seconds) const;

  // kAuto: the present interval and, in one sentence, why. kEverySeconds: as the job says, no reason. Else 0.
  double interval_seconds() const { return interval_; }
  const std::string& reason() const { return reason_; }

 private:
  void Reconsider(double now);

  const CheckpointSpec spec_;
  SaveCost cost_;
  InterruptionRecord record_;
  bool joined_ = false;
  double joined_at_ = 0;
  double interval_ = 0;
  bool settled_ = false;  // The interval rests on a measurement.
  std::string reason_;
  int64_t durable_step_ = -1;
  int64_t begun_step_ = -1;     // Newest begun in this generation.
  int64_t snapshot_step_ = -1;  // Newest begun in any.
  double at_risk_since_ = 0;    // What was computed since is not durable.
  double not_before_ = 0;       // After a failure.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CHECKPOINT_SCHEDULE_H_
