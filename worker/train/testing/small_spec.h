// Provides the spec of a job that is small enough for tests, for the BigramModel.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_SMALL_SPEC_H_
#define REKINDLE_WORKER_TRAIN_TESTING_SMALL_SPEC_H_

#include "worker/contract/spec.h"

namespace rekindle::train {

inline TrainSpec SmallSpec(int steps = 40) {
  TrainSpec spec;
  spec.seed = 5;
  spec.steps = steps;
  spec.global_batch = 18;
  spec.micro_batch = 3;
  spec.context = 12;
  spec.exact = true;
  spec.clip_norm = 1;
  spec.evaluate_every = 10;
  spec.optimizer.learning_rate = 0.05;
  spec.schedule = {"cosine", 5, 0.1};
  return spec;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_SMALL_SPEC_H_
