// Counters of one trainer process since its start, which the agent scrapes into Prometheus, and what its machine is
// needed for.
#ifndef REKINDLE_WORKER_TRAIN_TRAINER_METRICS_H_
#define REKINDLE_WORKER_TRAIN_TRAINER_METRICS_H_

#include <mutex>

namespace rekindle::train {

struct TrainerMetrics {
  int rank = -1;
  int generation = 0;
  double steps = 0;
  double tokens = 0;  // Of the whole global batch, counted on every rank alike.
  double data_seconds = 0;
  double compute_seconds = 0;
  double reduce_seconds = 0;  // Waiting for the exchange after the backward ended.
  double optimizer_seconds = 0;
  double stall_seconds = 0;  // Waiting for a membership, a connection or state.
  double checkpoint_stall_seconds = 0;
  double micro_batches_redone = 0;
  double step_seconds = 0;         // Smoothed.
  double micro_batches = 0;        // Of a whole step, that this rank computes now.
  bool works = false;              // Is in a generation, and steps or saves.
  bool keeps_final_state = false;  // All steps are made, and what came of them is not durable yet.
};

// Thread-safe holder: one writer, any number of readers.
class MetricsBoard {
 public:
  template <typename Change>
  void Update(Change&& change) {
    std::lock_guard lock(mutex_);
    change(metrics_);
  }
  TrainerMetrics Read() const {
    std::lock_guard lock(mutex_);
    return metrics_;
  }

 private:
  mutable std::mutex mutex_;
  TrainerMetrics metrics_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TRAINER_METRICS_H_
