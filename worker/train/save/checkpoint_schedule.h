// Decides when to take a checkpoint. The code is pure: it is given facts and times, and returns the decision and the
// reason for the checkpoint interval.
//
// `auto` balances the cost of saves against the work that an interruption throws away. To first order the best interval
// is sqrt(2 C M). C is the number of seconds that a save costs training, and M is the mean time between interruptions.
// The source is J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974. J. T.
// Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006, adds terms
// that matter where C is not small compared with M. The time of a restart, and the time from the beginning of a save
// until it is durable, are lost at every interruption whatever the interval is. So they do not move the optimum.
//
// The clocks of ranks differ, so rank 0 decides when to save and announces it in the step's message. Every rank keeps a
// schedule, so that the next rank 0 knows what was measured. No number that training computes depends on a schedule.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SCHEDULE_H_

#include <cstdint>
#include <string>

#include "worker/contract/spec.h"
#include "worker/train/save/save_cost.h"

namespace rekindle::train {

// `InterruptionRecord` says what happened to the job before the running generation, and on how many nodes it runs now.
struct InterruptionRecord {
  int nodes = 1;
  int interruptions = 0;
  // The job had its `interruptions` in `node_hours` hours, which are summed over its nodes.
  double node_hours = 0;
};

// Returns the time from the beginning of one save to the beginning of the next that loses least, in seconds, by Daly's
// estimate. REQUIRES: `save_seconds` and `mean_seconds` are above 0. `mean_seconds` may be infinite.
double BestInterval(double save_seconds, double mean_seconds);

// Keeps the schedule of a job's checkpoints. All times are seconds of one clock, which may be any. The class is
// thread-compatible.
class CheckpointSchedule {
 public:
  explicit CheckpointSchedule(const CheckpointSpec& spec);

  // Begins a generation. A save that was in flight has ended with the generation before.
  void Joined(double now, const InterruptionRecord& record);
  // Records that the state at `step` is the initial one or was restored from the store, so that no computing is at
  // risk.
  void Restarted(double now, int64_t step);
  // Records that a step took `seconds`. `usual` says that the step contained only training and checkpoints
  // (SaveCost::Step).
  void StepDone(double seconds, bool usual);
  // Records that a save of the state at `step` begins. Stalled() says how long training waited for the copy.
  void Begun(double now, int64_t step);
  void Stalled(double seconds);
  // Records that the checkpoint of `step` is known to be durable. A call for a checkpoint that is not newer than the
  // newest known one changes nothing.
  void Durable(double now, int64_t step);
  // Records that the save in flight failed. The state is saved again soon, but not at once.
  void Failed(double now);

  // Returns whether to save the state at `step`, which is reached in about `step_seconds`.
  bool Due(double now, int64_t step, double step_seconds) const;

  // Returns the present interval between checkpoints. For kAuto `reason` explains it in one sentence. For kEverySeconds
  // it is the interval that the job states, without a reason. For other kinds it is 0.
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
  // `settled_` says that the interval between checkpoints rests on a measurement.
  bool settled_ = false;
  std::string reason_;
  int64_t durable_step_ = -1;
  // `begun_step_` is the newest step whose save began in this generation.
  int64_t begun_step_ = -1;
  // `snapshot_step_` is the newest step whose save began in any generation.
  int64_t snapshot_step_ = -1;
  // What was computed since the time `at_risk_since_` is not durable, so an interruption would lose it.
  double at_risk_since_ = 0;
  // After a failed save no other save begins before the time `not_before_`.
  double not_before_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_CHECKPOINT_SCHEDULE_H_
