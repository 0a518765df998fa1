// Describes what one step cost one rank, as the rank measured it. A StepCost travels in the step's message, so every
// rank knows the costs of all ranks.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_

namespace rekindle::train {

struct StepCost {
  // `micro_batches` counts the micro-batches that the rank computed in this step, without those that it held from an
  // interrupted generation.
  int micro_batches = 0;
  // `data_seconds` is the time that the rank waited for the data of the micro-batches that it computed.
  double data_seconds = 0;
  // `compute_seconds` is the time of the forward and backward of the micro-batches that the rank computed, without
  // `lost_seconds`.
  double compute_seconds = 0;
  // `exchange_seconds` is the duration of the exchange of the step before, from the end of the rank's own computing to
  // the end of the exchange. It is 0 in the first step of a generation.
  double exchange_seconds = 0;
  // `blocked_seconds` is the part of `exchange_seconds` in which the rank had something to send that the link did not
  // take.
  double blocked_seconds = 0;
  // `lost_seconds` is the time that the model has lost in this step to what was not its work (Model::LostSeconds). The
  // other ranks have waited for it, so all ranks leave it out of the time of the step.
  double lost_seconds = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_COST_H_
