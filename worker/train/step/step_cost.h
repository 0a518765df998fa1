// Describes what one step cost one rank, as the rank measured it. It travels in the step's message, so every rank knows
// all costs.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_

namespace rekindle::train {

struct StepCost {
  // `micro_batches` counts those computed in this step, without those held from an interrupted generation.
  int micro_batches = 0;
  // `data_seconds` is the time that the rank waited for the data of these micro-batches.
  double data_seconds = 0;
  // `compute_seconds` is the time that the rank spent in the forward and backward of these micro-batches.
  double compute_seconds = 0;
  // `exchange_seconds` belongs to the step before in this generation. It runs from the end of the rank's own computing
  // to the end of the exchange. It is 0 if there is no such step.
  double exchange_seconds = 0;
  // `blocked_seconds` is the part of `exchange_seconds` in which the rank had something to send that the link did not
  // take.
  double blocked_seconds = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_
