// What one step cost one rank, as it measured it. It travels in the step's message, so all ranks know all of them.
#ifndef REKINDLE_WORKER_TRAIN_STEP_COST_H_
#define REKINDLE_WORKER_TRAIN_STEP_COST_H_

namespace rekindle::train {

struct StepCost {
  int micro_batches = 0;       // Computed in this step; what was held from an interrupted generation is not.
  double data_seconds = 0;     // Waiting for their data,
  double compute_seconds = 0;  // and in their forward and backward.
  // Of the step before in this generation, from the end of the own computing to that of the exchange; 0: there is none.
  double exchange_seconds = 0;
  double blocked_seconds = 0;  // Of those, with something to send that the link did not take.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_COST_H_
