// Counts what one trainer process has done since its start. The agent exports these counters to Prometheus. They also
// tell the agent what the trainer's machine is needed for.
#ifndef REKINDLE_WORKER_TRAIN_STEP_TRAINER_METRICS_H_
#define REKINDLE_WORKER_TRAIN_STEP_TRAINER_METRICS_H_

#include "common/sync/mutex.h"

namespace rekindle::train {

struct TrainerMetrics {
  int rank = -1;
  int generation = 0;
  double steps = 0;
  // `tokens` counts the tokens of the whole global batch, so all ranks of a step add the same number.
  double tokens = 0;
  double data_seconds = 0;
  double compute_seconds = 0;
  // `reduce_seconds` is the time spent waiting for the exchange after the backward has ended.
  double reduce_seconds = 0;
  double optimizer_seconds = 0;
  // `stall_seconds` is the time spent waiting for a membership, a connection or state.
  double stall_seconds = 0;
  double checkpoint_stall_seconds = 0;
  double micro_batches_redone = 0;
  // `step_seconds` is the smoothed time of one step.
  double step_seconds = 0;
  // `micro_batches` is the number of micro-batches of a whole step that this rank computes now.
  double micro_batches = 0;
  // `works` says that the trainer is in a generation, and steps or saves.
  bool works = false;
  // `keeps_final_state` says that all steps are made but the result is not durable yet.
  bool keeps_final_state = false;
};

// Holds the metrics of a trainer for one writer and any number of readers. The class is thread-safe.
class MetricsBoard {
 public:
  template <typename Change>
  void Update(Change&& change) {
    const common::MutexLock lock(mutex_);
    change(metrics_);
  }
  TrainerMetrics Read() const {
    const common::MutexLock lock(mutex_);
    return metrics_;
  }

 private:
  mutable common::Mutex mutex_;
  TrainerMetrics metrics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_TRAINER_METRICS_H_
