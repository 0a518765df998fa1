// Where micro-batches come from: pure functions of (step, index), the same on every rank.
#ifndef REKINDLE_WORKER_TRAIN_BATCH_SOURCE_H_
#define REKINDLE_WORKER_TRAIN_BATCH_SOURCE_H_

#include <cstdint>

#include "worker/train/model.h"

namespace rekindle::train {

// Thread-compatible.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual MicroBatch Train(int64_t step, int index) = 0;
  // Precondition: index < validation_micro_batches().
  virtual MicroBatch Validation(int index) = 0;
  virtual int validation_micro_batches() const = 0;
  // Of an epoch.
  virtual int64_t train_samples() const = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_BATCH_SOURCE_H_
